from change_of import change, changes


def test_up():
    assert change(50, 60) == 20.0


def test_from_nothing():
    assert changes([0, 5]) == [None]
