from rotate_left import rotate


def test_held():
    assert rotate([1, 2, 3, 4], 2) == [3, 4, 1, 2]
    assert rotate([1, 2, 3, 4], -1) == [4, 1, 2, 3]
