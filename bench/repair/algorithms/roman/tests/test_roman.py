from roman import roman


def test_1():
    assert roman(1) == "I"


def test_2():
    assert roman(3) == "III"


def test_3():
    assert roman(14) == "XIV"


def test_4():
    assert roman(1994) == "MCMXCIV"


def test_5():
    assert roman(30) == "XXX"

