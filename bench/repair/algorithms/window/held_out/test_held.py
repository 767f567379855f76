from window import moving_average


def test_held():
    assert moving_average([2, 4, 6, 8], 2) == [3, 5, 7]
    assert moving_average([3, 3, 3], 3) == [3]
