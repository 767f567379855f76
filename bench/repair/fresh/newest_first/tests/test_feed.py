from feed import Post, feed


def test_newest_first():
    assert feed([Post("a", 1), Post("b", 3), Post("c", 2)]) == ["b", "c", "a"]


def test_pinned():
    assert feed([Post("a", 1), Post("b", 0, True)])[0] == "b"
