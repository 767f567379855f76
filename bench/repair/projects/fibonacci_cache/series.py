def triangular(n):
    """1 + 2 + ... + n; 0 for n below 1."""
    return n + triangular(n - 1)


def squares(n):
    return [i * i for i in range(n)]
