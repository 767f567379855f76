def best_value(items, capacity):
    """The most value of (weight, value) items within the capacity, each at most once."""
    table = [0] * (capacity + 1)
    for weight, value in items:
        for room in range(capacity, weight - 1, -1):
            table[room] = max(table[room], table[room - weight] + weight)
    return table[capacity]
