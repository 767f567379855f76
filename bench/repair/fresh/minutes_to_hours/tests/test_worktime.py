from worktime import paid, shown, week


def test_long_day():
    assert paid(480) == 450


def test_short_day():
    assert paid(200) == 200


def test_shown():
    assert shown(125) == "2 h 5 min"
