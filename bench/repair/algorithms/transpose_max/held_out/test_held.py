from transpose_max import column_maxima


def test_held():
    assert column_maxima([[-5, 0], [-3, -1]]) == [-3, 0]
    assert column_maxima([[7, 8, 9], [9, 8, 7]]) == [9, 8, 9]
