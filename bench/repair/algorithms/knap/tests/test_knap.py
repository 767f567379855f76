from knap import best_value


def test_1():
    assert best_value([(1, 5), (2, 6), (3, 9)], 5) == 15


def test_2():
    assert best_value([], 4) == 0


def test_3():
    assert best_value([(5, 9)], 4) == 0


def test_4():
    assert best_value([(2, 3), (2, 4)], 2) == 4

