def normalise(path):
    """Without empty parts and dots; `..` goes up."""
    parts = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part and part != ".":
            parts.append(part.lower())
    return "/" + "/".join(parts)


def parent(path):
    return normalise(path + "/..")
