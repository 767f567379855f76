def compound(principal, rate, years):
    """The capital after some years at a yearly rate in per cent."""
    return principal * (1 + rate / 100) * years


def monthly(principal, rate, months):
    factor = 1 + rate / 1200
    return principal * factor ** months


def gain(principal, rate, years):
    return compound(principal, rate, years) - principal
