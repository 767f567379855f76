from words import vocabulary


def test_more():
    assert vocabulary("Zoo apple Bee apple") == ["apple", "bee", "zoo"]


def test_empty():
    assert vocabulary("") == []
