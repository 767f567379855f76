def primes(limit):
    """All primes up to and including limit."""
    flags = [True] * (limit + 1)
    found = []
    for n in range(2, limit):
        if flags[n]:
            found.append(n)
            for multiple in range(n * n, limit + 1, n):
                flags[multiple] = False
    return found
