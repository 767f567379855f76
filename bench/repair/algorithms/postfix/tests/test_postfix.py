from postfix import evaluate


def test_1():
    assert evaluate(["2", "3", "+"]) == 5


def test_2():
    assert evaluate(["9", "4", "-"]) == 5


def test_3():
    assert evaluate(["2", "3", "4", "*", "+"]) == 14


def test_4():
    assert evaluate(["7"]) == 7

