def moving_average(values, size):
    """The mean of each window of that size."""
    result = []
    for i in range(len(values) - size + 2):
        window = values[i : i + size]
        result.append(sum(window) / size)
    return result
