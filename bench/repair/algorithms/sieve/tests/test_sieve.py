from sieve import primes


def test_1():
    assert primes(10) == [2, 3, 5, 7]


def test_2():
    assert primes(2) == [2]


def test_3():
    assert primes(13) == [2, 3, 5, 7, 11, 13]


def test_4():
    assert primes(4) == [2, 3]

