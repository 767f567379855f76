from tree_depth import build


def test_1():
    assert build([2, 1, 3]) == [1, 2, 3]


def test_2():
    assert build([]) == []


def test_3():
    assert build([5, 4]) == [4, 5]


def test_4():
    assert build([1, 2, 3, 4]) == [1, 2, 3, 4]

