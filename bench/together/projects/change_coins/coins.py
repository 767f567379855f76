"""Change in as few coins as a greedy cashier gives."""

COINS = [200, 100, 50, 20, 10, 5]


def change(cents):
    """The coins, the largest first; what is left below 5 cents is not paid out."""
    return []
