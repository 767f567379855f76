from insertion import order


def test_1():
    assert order([3, 1, 2]) == [1, 2, 3]


def test_2():
    assert order([]) == []


def test_3():
    assert order([1, 2]) == [1, 2]


def test_4():
    assert order([5, 5, 1]) == [1, 5, 5]

