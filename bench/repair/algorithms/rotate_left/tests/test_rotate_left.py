from rotate_left import rotate


def test_1():
    assert rotate([1, 2, 3], 1) == [2, 3, 1]


def test_2():
    assert rotate([], 3) == []


def test_3():
    assert rotate([1, 2, 3], 3) == [1, 2, 3]


def test_4():
    assert rotate([1, 2], 5) == [2, 1]

