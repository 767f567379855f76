from dijkstra import shortest


def test_1():
    assert shortest({"a": {"b": 2}, "b": {"c": 3}}, "a") == {"a": 0, "b": 2, "c": 5}


def test_2():
    assert shortest({}, "x") == {"x": 0}


def test_3():
    assert shortest({"a": {"b": 5, "c": 1}, "c": {"b": 1}}, "a") == {"a": 0, "c": 1, "b": 2}

