from gcd_list import squeeze


def test_held():
    assert squeeze([1, 2, 2, 3, 3, 3, 1, 1]) == [1, 2, 3, 1]
