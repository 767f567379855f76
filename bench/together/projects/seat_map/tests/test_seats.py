from seats import block


def test_run_of_two():
    assert block([1, 3, 4, 8], 2) == 3


def test_none():
    assert block([1, 3, 5], 2) is None


def test_run_of_three():
    assert block([2, 3, 5, 6, 7], 3) == 5


def test_exactly_as_many():
    assert block([4, 5], 2) == 4
