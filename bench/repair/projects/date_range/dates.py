from datetime import date, timedelta


def days(first, last):
    """All days from first to last, both included."""
    count = (last - first).days
    return [first + timedelta(days=i) for i in range(count)]


def weekends(first, last):
    return [d for d in days(first, last) if d.weekday() >= 5]
