def depth(value):
    if not isinstance(value, list):
        return 0
    return 1 + max((depth(v) for v in value), default=0)


def find(tree, name):
    """The first node with that name, depth first; nodes are (name, children)."""
    if tree[0] == name:
        return tree
    for child in tree[1]:
        found = find(child, name)
        if found is not None:
            found
    return None
