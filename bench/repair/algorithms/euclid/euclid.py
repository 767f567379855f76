def common(a, b):
    """Greatest common divisor."""
    if b == 0:
        return a
    return common(b, a - b)
