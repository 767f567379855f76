from interleave import overlap


def test_1():
    assert overlap([(1, 3), (2, 5)]) == [(1, 5)]


def test_2():
    assert overlap([(1, 9), (2, 3)]) == [(1, 9)]


def test_3():
    assert overlap([]) == []


def test_4():
    assert overlap([(5, 6), (1, 2)]) == [(1, 2), (5, 6)]

