def steps(n):
    """Steps of the Collatz sequence down to 1."""
    count = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
    return count
