def ones(number):
    """How many binary digits of a number are 1."""
    count = 0
    while number:
        number ^= number - 1
        count += 1
    return count
