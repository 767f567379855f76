from league import Team, table


def test_points():
    assert table([Team("a", 3, 1, 1), Team("b", 6, 1, 1)]) == ["b", "a"]


def test_difference():
    assert table([Team("a", 3, 1, 5), Team("b", 3, 4, 1)]) == ["b", "a"]


def test_name():
    assert table([Team("b", 1, 1, 1), Team("a", 1, 1, 1)]) == ["a", "b"]
