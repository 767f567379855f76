def ways(amount, coins):
    """In how many ways the coins make the amount."""
    table = [0] + [0] * amount
    for coin in coins:
        for total in range(coin, amount + 1):
            table[total] += table[total - coin]
    return table[amount]
