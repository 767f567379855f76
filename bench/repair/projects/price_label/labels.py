def price(cents):
    return f"{cents / 100:.1f} EUR"


def label(name, cents, width=20):
    right = price(cents)
    return name.ljust(width - len(right)) + right
