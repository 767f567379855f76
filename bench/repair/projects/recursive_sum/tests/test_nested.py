from nested import depth, find

TREE = ("a", [("b", []), ("c", [("d", [])])])


def test_depth():
    assert depth([1, [2, [3]]]) == 3


def test_root():
    assert find(TREE, "a") == TREE


def test_deep():
    assert find(TREE, "d") == ("d", [])


def test_missing():
    assert find(TREE, "x") is None
