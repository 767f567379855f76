from edit_steps import steps


def test_1():
    assert steps("ab", "ab") == 0


def test_2():
    assert steps("abc", "a") == 2


def test_3():
    assert steps("cat", "cut") == 1


def test_4():
    assert steps("", "xy") == 2


def test_5():
    assert steps("kit", "sits") == 2

