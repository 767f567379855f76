from interleave import overlap


def test_held():
    assert overlap([(1, 4), (4, 5), (0, 1)]) == [(0, 5)]
    assert overlap([(1, 10), (2, 3), (11, 12)]) == [(1, 10), (11, 12)]
