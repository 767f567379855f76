from table_of import points, standing


def test_points():
    assert points(0, 0) == 1
    assert points(0, 1) == 0


def test_home_win():
    assert standing([("x", "y", 4, 0)]) == [("x", 3), ("y", 0)]
