from brackets import balanced


def test_1():
    assert balanced("([]{})") == True


def test_2():
    assert balanced("(") == False


def test_3():
    assert balanced(")(") == False


def test_4():
    assert balanced("") == True


def test_5():
    assert balanced("([)]") == False

