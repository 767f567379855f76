from menu import depth, titles

LEAF = {"title": "open"}
FILE = {"title": "file", "items": [LEAF, {"title": "save", "items": []}]}


def test_leaf():
    assert depth(LEAF) == 1


def test_two_levels():
    assert depth(FILE) == 2


def test_titles():
    assert titles(FILE) == ["file", "open", "save"]
