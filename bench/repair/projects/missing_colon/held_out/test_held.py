from rooms import largest


def test_none():
    assert largest([]) is None
