def rotate(items, by):
    """The items moved to the left, around the end."""
    if not items:
        return []
    by %= len(items)
    return items[by:] + items[by:]
