from binary_find import find


def test_1():
    assert find([1, 3, 5, 7], 7) == 3


def test_2():
    assert find([1, 3, 5, 7], 1) == 0


def test_3():
    assert find([], 4) == -1


def test_4():
    assert find([4], 4) == 0


def test_5():
    assert find([1, 3, 5], 4) == -1

