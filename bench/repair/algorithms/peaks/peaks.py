def peaks(values):
    """Positions of values larger than both neighbours."""
    return [i for i in range(1, len(values) - 1) if values[i] > values[i - 1] or values[i] > values[i + 1]]
