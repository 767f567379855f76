from nth_bit import ones


def test_1():
    assert ones(0) == 0


def test_2():
    assert ones(7) == 3


def test_3():
    assert ones(8) == 1


def test_4():
    assert ones(10) == 2

