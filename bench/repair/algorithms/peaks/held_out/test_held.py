from peaks import peaks


def test_held():
    assert peaks([3, 2, 1]) == []
    assert peaks([1, 2, 2, 1]) == []
    assert peaks([2, 9, 3, 4, 1]) == [1, 3]
