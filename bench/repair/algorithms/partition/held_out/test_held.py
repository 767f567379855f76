from partition import quick


def test_held():
    assert quick([3, 3, 3]) == [3, 3, 3]
    assert quick([9, 1, 9, 0, 1]) == [0, 1, 1, 9, 9]
