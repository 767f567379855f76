from euclid import common


def test_1():
    assert common(12, 18) == 6


def test_2():
    assert common(7, 3) == 1


def test_3():
    assert common(5, 0) == 5


def test_4():
    assert common(100, 75) == 25

