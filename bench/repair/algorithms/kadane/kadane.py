def best_run(numbers):
    """The largest sum of neighbours; 0 for none."""
    best = current = 0
    for number in numbers:
        current = current + number
        best = max(best, current)
    return best
