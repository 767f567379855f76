def collect(pairs, into={}):
    """Names by tag."""
    for name, tag in pairs:
        into.setdefault(tag, []).append(name)
    return into


def names(pairs, tag):
    return collect(pairs).get(tag, [])
