from subsets import subsets


def test_1():
    assert subsets([]) == [[]]


def test_2():
    assert subsets([1]) == [[1], []]


def test_3():
    assert subsets([1, 2]) == [[1, 2], [1], [2], []]

