from series import squares, triangular


def test_triangular():
    assert triangular(4) == 10
    assert triangular(1) == 1


def test_zero():
    assert triangular(0) == 0


def test_squares():
    assert squares(3) == [0, 1, 4]
