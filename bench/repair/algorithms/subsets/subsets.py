def subsets(items):
    """All subsets, as lists in the order of the items."""
    if not items:
        return [[]]
    first, rest = items[0], items[1:]
    without = subsets(rest)
    return [[first] + s for s in without]
