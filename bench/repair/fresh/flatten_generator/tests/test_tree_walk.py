from tree_walk import Node


def test_leaf():
    assert list(Node(3).walk()) == [3]


def test_two_levels():
    assert list(Node(1, Node(2), Node(3)).walk()) == [1, 2, 3]
