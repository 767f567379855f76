from peaks import peaks


def test_1():
    assert peaks([1, 3, 2]) == [1]


def test_2():
    assert peaks([1, 2, 3]) == []


def test_3():
    assert peaks([]) == []


def test_4():
    assert peaks([0, 5, 0, 5, 0]) == [1, 3]

