from window import moving_average


def test_1():
    assert moving_average([1, 2, 3], 2) == [1.5, 2.5]


def test_2():
    assert moving_average([4], 1) == [4.0]


def test_3():
    assert moving_average([1, 1], 3) == []

