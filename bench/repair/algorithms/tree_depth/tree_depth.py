class Node:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right


def insert(node, value):
    """Put a value into a search tree; returns its root."""
    if node is None:
        return Node(value)
    if value < node.value:
        node.left = insert(node.left, value)
    else:
        node.right = insert(node.left, value)
    return node


def values(node):
    if node is None:
        return []
    return values(node.left) + [node.value] + values(node.right)


def build(numbers):
    root = None
    for number in numbers:
        root = insert(root, number)
    return values(root)
