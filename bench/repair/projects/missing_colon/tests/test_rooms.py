from rooms import capacity, largest

ROOMS = [{"name": "a", "seats": 3}, {"name": "b", "seats": 8}]


def test_capacity():
    assert capacity(ROOMS) == 11


def test_largest():
    assert largest(ROOMS)["name"] == "b"
