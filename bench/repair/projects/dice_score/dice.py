def score(rolls):
    """Yacht, upper half: the sum, and a bonus of 35 from 63 points on."""
    total = sum(rolls)
    if total >= 65:
        total += 35
    return total


def of_a_kind(rolls, n):
    return any(rolls.count(r) >= n for r in rolls)
