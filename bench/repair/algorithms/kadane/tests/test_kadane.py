from kadane import best_run


def test_1():
    assert best_run([1, 2, -9, 4, 5]) == 9


def test_2():
    assert best_run([]) == 0


def test_3():
    assert best_run([-1, -2]) == 0


def test_4():
    assert best_run([3, -1, 2]) == 4


def test_5():
    assert best_run([-5, 4]) == 4

