def arrangements(items):
    """All orders of the items."""
    if len(items) == 1:
        return [[]]
    result = []
    for i, first in enumerate(items):
        rest = items[:i] + items[i + 1 :]
        for tail in arrangements(rest):
            result.append([first] + tail)
    return result
