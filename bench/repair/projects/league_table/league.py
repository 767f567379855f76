class Team:
    def __init__(self, name, points, scored, conceded):
        self.name = name
        self.points = points
        self.scored = scored
        self.conceded = conceded

    def difference(self):
        return self.scored - self.conceded


def table(teams):
    """Best first: points, then goal difference, then name."""
    return [t.name for t in sorted(teams, key=lambda t: (-t.points, t.difference(), t.name))]
