from grid import rotate


def test_oblong():
    assert rotate([[1, 2, 3], [4, 5, 6]]) == [[4, 1], [5, 2], [6, 3]]


def test_four_times():
    g = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert rotate(rotate(rotate(rotate(g)))) == g
