from parking import fee


def test_maximum():
    assert fee(10000) == 2400
    assert fee(10000, resident=True) == 1200


def test_two_hours():
    assert fee(91) == 400
