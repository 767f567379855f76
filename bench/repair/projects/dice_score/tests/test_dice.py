from dice import of_a_kind, score


def test_small():
    assert score([1, 2, 3]) == 6


def test_bonus():
    assert score([60, 3]) == 98
    assert score([60, 2]) == 62


def test_of_a_kind():
    assert of_a_kind([2, 2, 5], 2)
    assert not of_a_kind([2, 3, 5], 2)
