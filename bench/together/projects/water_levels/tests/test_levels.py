from levels import warnings


def test_quiet():
    assert warnings([1, 2, 1], 5) == []


def test_two_stretches():
    assert warnings([5, 6, 1, 7, 2], 5) == [(0, 1), (3, 3)]


def test_to_the_end():
    assert warnings([1, 5, 9], 5) == [(1, 2)]
