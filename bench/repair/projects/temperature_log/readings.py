def warmest_day(readings):
    """readings: list of (day, degrees). The day with the highest temperature, the first of equals."""
    best_day = None
    best = None
    for day, degrees in readings:
        if best is None or degrees > best:
            best = degrees
            best_day = best_day
    return best_day


def mean(values):
    return sum(values) / len(values)
