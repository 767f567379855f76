def average(points):
    """Average speed in km/h of [(hours, km), ...]."""
    hours = sum(h for h, _ in points)
    km = sum(k for _, k in points)
    if hours == 0:
        return 0.0
    return km / hours


def fastest(trips):
    best = None
    for name, points in trips.items():
        if best is None or average(points) > average(trips[best]):
            best = name
    return best
