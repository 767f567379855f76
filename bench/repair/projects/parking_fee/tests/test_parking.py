from parking import fee


def test_free():
    assert fee(30) == 0


def test_one_hour():
    assert fee(31) == 200
    assert fee(90) == 200


def test_resident():
    assert fee(91, resident=True) == 200


def test_lost():
    assert fee(5, lost_ticket=True) == 2400
