def mean(values):
    """The arithmetic mean; 0.0 for no values."""
    return sum(values) / len(values)


def spread(values):
    if not values:
        return 0
    return max(values) - min(values)


def summary(values):
    return {"n": len(values), "mean": mean(values), "spread": spread(values)}
