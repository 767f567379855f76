from tree_walk import Node


def test_total():
    assert Node(1, Node(2, Node(4)), Node(3)).total() == 10
