from pascal import triangle


def test_1():
    assert triangle(1) == [[1]]


def test_2():
    assert triangle(3) == [[1], [1, 1], [1, 2, 1]]


def test_3():
    assert triangle(4) == [[1], [1, 1], [1, 2, 1], [1, 3, 3, 1]]


def test_4():
    assert triangle(0) == []

