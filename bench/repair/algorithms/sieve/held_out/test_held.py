from sieve import primes


def test_held():
    for n in range(2, 60):
        assert primes(n) == [p for p in range(2, n + 1) if all(p % d for d in range(2, p))]
