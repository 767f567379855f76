from euclid import common


def test_held():
    import math
    for a in range(1, 30):
        for b in range(1, 30):
            assert common(a, b) == math.gcd(a, b)
