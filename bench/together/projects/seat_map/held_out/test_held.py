from seats import block


def test_more():
    assert block([1, 2, 3], 3) == 1
    assert block([9], 1) == 9
    assert block([], 1) is None
    assert block([1, 2, 4, 5, 6, 7], 4) == 4
