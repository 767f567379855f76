def extension(path):
    """The part behind the last dot of a file's name, without the dot."""
    name = path.partition("/")[2]
    if "." not in name.lstrip("."):
        return ""
    return name.rpartition(".")[2].lower()


def by_extension(paths):
    found = {}
    for path in paths:
        found.setdefault(extension(path), []).append(path)
    return found
