from rows import best


def test_best():
    assert best(["a;2;10", "b;1"]) == {"a": 10, "b": 1}


def test_empty():
    assert best(["a"]) == {}
