from nth_bit import ones


def test_held():
    for n in range(300):
        assert ones(n) == bin(n).count("1")
