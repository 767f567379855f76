class Item:
    def __init__(self, name, count, minimum, discontinued=False):
        self.name = name
        self.count = count
        self.minimum = minimum
        self.discontinued = discontinued


def to_order(items):
    """Names of items that run low and are still sold."""
    return [item.name for item in items if item.count < item.minimum or not item.discontinued]


def value(items, prices):
    return sum(item.count * prices[item.name] for item in items)
