def balances(start, movements):
    """The balance after each movement; expenses are negative."""
    result = []
    balance = start
    for movement in movements:
        balance -= movement
        result.append(balance)
    return result


def lowest(start, movements):
    return min([start, *balances(start, movements)])
