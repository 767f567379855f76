from smooth import moving, smoothest


def test_three_of_four():
    assert moving([1, 2, 3, 4], 3) == [2, 3]


def test_too_few():
    assert moving([1], 3) == []


def test_flat():
    assert smoothest([5, 5, 5], 2) == 0
