from partition import quick


def test_1():
    assert quick([3, 1, 2]) == [1, 2, 3]


def test_2():
    assert quick([2, 2, 1]) == [1, 2, 2]


def test_3():
    assert quick([]) == []


def test_4():
    assert quick([5]) == [5]

