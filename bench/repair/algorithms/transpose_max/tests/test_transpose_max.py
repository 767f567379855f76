from transpose_max import column_maxima


def test_1():
    assert column_maxima([[1, 9], [5, 2]]) == [5, 9]


def test_2():
    assert column_maxima([[3]]) == [3]


def test_3():
    assert column_maxima([[1, 2], [3, 4], [2, 9]]) == [3, 9]

