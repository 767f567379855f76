from base import in_base


def test_held():
    for n in range(200):
        assert in_base(n, 2) == bin(n)[2:]
        assert in_base(n, 16) == hex(n)[2:]
