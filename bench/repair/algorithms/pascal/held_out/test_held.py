from pascal import triangle


def test_held():
    import math
    assert triangle(8) == [[math.comb(n, k) for k in range(n + 1)] for n in range(8)]
