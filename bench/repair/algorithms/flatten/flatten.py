def flatten(value):
    """All the leaves of nested lists, in order."""
    if not isinstance(value, list):
        return [value]
    result = []
    for item in value:
        result.append(flatten(item))
    return result
