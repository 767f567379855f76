from score import points, rounded


def test_rounded():
    assert rounded(7, 5) == 5
    assert rounded(8, 5) == 10


def test_points():
    assert points([[1, 2], [10, 3]]) == [5, 15]
