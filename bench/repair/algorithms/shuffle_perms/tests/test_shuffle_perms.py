from shuffle_perms import arrangements


def test_1():
    assert arrangements([1, 2]) == [[1, 2], [2, 1]]


def test_2():
    assert arrangements([]) == [[]]


def test_3():
    assert arrangements([7]) == [[7]]

