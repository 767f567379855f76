from tags import collect, names


def test_fresh():
    assert names([("a", "k")], "k") == ["a"]
    assert names([("b", "k")], "k") == ["b"]


def test_empty_is_filled():
    mine = {}
    collect([("a", "x")], mine)
    assert mine == {"x": ["a"]}
