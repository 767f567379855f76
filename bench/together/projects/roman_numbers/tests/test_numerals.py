from numerals import value


def test_plain():
    assert value("XVI") == 16


def test_smaller_before_larger():
    assert value("XIV") == 14


def test_year():
    assert value("MCMXC") == 1990
