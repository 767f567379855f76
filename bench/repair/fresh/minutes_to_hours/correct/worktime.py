BREAK_AFTER = 6 * 60
BREAK = 30


def paid(minutes):
    """Minutes paid: a long day has a break taken off."""
    if minutes > BREAK_AFTER:
        return minutes - BREAK
    return minutes


def week(days):
    return sum(paid(day) for day in days)


def shown(minutes):
    return f"{minutes // 60} h {minutes % 60} min"
