from collatz import steps


def test_1():
    assert steps(1) == 0


def test_2():
    assert steps(2) == 1


def test_3():
    assert steps(6) == 8


def test_4():
    assert steps(7) == 16

