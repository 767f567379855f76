def collect(pairs, into=None):
    """Names by tag."""
    if into is None:
        into = {}
    for name, tag in pairs:
        into.setdefault(tag, []).append(name)
    return into


def names(pairs, tag):
    return collect(pairs).get(tag, [])
