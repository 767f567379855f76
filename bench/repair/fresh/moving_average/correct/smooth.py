def moving(values, width):
    """Mean of each `width` neighbours."""
    found = []
    for i in range(len(values) - width + 1):
        window = values[i : i + width]
        found.append(sum(window) / width)
    return found


def smoothest(values, width):
    means = moving(values, width)
    return max(means) - min(means) if means else 0
