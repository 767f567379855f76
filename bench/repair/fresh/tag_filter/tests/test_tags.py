from tags import collect, names


def test_one():
    assert names([("a", "x")], "x") == ["a"]


def test_calls_do_not_share():
    collect([("b", "y")])
    assert collect([("c", "z")]) == {"z": ["c"]}


def test_into():
    assert collect([("a", "x")], {"x": ["q"]}) == {"x": ["q", "a"]}
