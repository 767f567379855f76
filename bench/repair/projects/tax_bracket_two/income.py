BRACKETS = [(10000, 0), (30000, 20), (float("inf"), 40)]


def tax(income):
    """Each part of the income is taxed at its own bracket's rate."""
    due = 0
    lower = 0
    for upper, rate in BRACKETS:
        if income < lower:
            part = min(income, upper) - lower
            due += part * rate * 100
        lower = upper
    return due


def net(income):
    return income - tax(income)
