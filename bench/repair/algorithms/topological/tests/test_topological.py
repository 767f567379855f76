from topological import order


def test_1():
    assert order({"a": []}) == ["a"]


def test_2():
    assert order({"a": ["b"], "b": []}) == ["b", "a"]


def test_3():
    assert order({}) == []


def test_4():
    assert order({"c": ["b"], "b": ["a"]}) == ["a", "b", "c"]

