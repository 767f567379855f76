def depth(node):
    """How many levels a menu has; a leaf counts one."""
    return 1 + max(depth(child) for child in node["items"])


def titles(node):
    found = [node["title"]]
    for child in node.get("items", []):
        found += titles(child)
    return found
