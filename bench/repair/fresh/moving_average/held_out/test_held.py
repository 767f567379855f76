from smooth import moving


def test_one():
    assert moving([4, 6], 1) == [4, 6]
    assert moving([2, 4, 6], 2) == [3, 5]
