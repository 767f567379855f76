DAY_MAXIMUM = 2400


def fee(minutes, resident=False, lost_ticket=False):
    """Cents. The first half hour is free, then 200 for each hour begun; residents pay half."""
    if lost_ticket:
        return DAY_MAXIMUM
    if minutes <= 30:
        return 0
    hours = (minutes - 30 + 59) // 60
    price = min(hours * 200, DAY_MAXIMUM)
    if not resident:
        price //= 2
    return price
