from grid import diagonal, rotate, transpose


def test_transpose():
    assert transpose([[1, 2], [3, 4]]) == [[1, 3], [2, 4]]


def test_rotate():
    assert rotate([[1, 2], [3, 4]]) == [[3, 1], [4, 2]]


def test_diagonal():
    assert diagonal([[1, 2], [3, 4]]) == [1, 4]
