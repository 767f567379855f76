from kitchen import shopping


def test_other():
    recipe = {"serves": 1, "for": {"b": 1, "a": 2, "c": 1}}
    assert shopping([recipe], 3) == [("a", 6), ("b", 3), ("c", 3)]


def test_none():
    assert shopping([], 3) == []
