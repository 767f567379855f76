from flatten import flatten


def test_held():
    assert flatten([[[[1]], 2], [], [3, [4, 5]]]) == [1, 2, 3, 4, 5]
