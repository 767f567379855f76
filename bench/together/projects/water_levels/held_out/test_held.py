from levels import warnings


def test_more():
    assert warnings([5], 5) == [(0, 0)]
    assert warnings([6, 6, 6], 6) == [(0, 2)]
    assert warnings([1, 8, 1, 8], 5) == [(1, 1), (3, 3)]
