def points(scored, conceded):
    if scored > conceded:
        return 3
    if scored == conceded:
        return 1
    return 0


def standing(games):
    """Teams with points, most points first, then by name."""
    total = {}
    for home, away, goals, against in games:
        total[home] = total.get(home, 0) + points(goals, against)
        total[away] = total.get(away, 0) + points(against, goals)
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))
