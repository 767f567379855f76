from gcd_list import squeeze


def test_1():
    assert squeeze([1, 1, 2, 2, 1]) == [1, 2, 1]


def test_2():
    assert squeeze([]) == []


def test_3():
    assert squeeze([3, 3]) == [3]

