from datetime import date


class Lease:
    def __init__(self, start: date, end: date, daily: int):
        self.start = start
        self.end = end
        self.daily = daily

    def days(self):
        """First and last day both count."""
        return (self.end - self.start).days + 1

    def cost(self):
        days = self.days()
        full_weeks, rest = divmod(days, 7)
        return full_weeks * 6 * self.daily + rest * self.daily
