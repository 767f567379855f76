from tree_depth import build


def test_held():
    assert build([5, 2, 8, 1, 9, 3]) == [1, 2, 3, 5, 8, 9]
    assert build([3, 3, 1]) == [1, 3, 3]
