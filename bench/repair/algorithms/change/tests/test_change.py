from change import ways


def test_1():
    assert ways(4, [1, 2]) == 3


def test_2():
    assert ways(5, [2]) == 0


def test_3():
    assert ways(6, [2, 3]) == 2


def test_4():
    assert ways(0, [1]) == 1

