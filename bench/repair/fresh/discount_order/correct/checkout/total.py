def total(prices, discount, shipping):
    """Discount is per cent of the goods; shipping is added behind it and is free from 50 on."""
    amount = sum(prices)
    amount -= amount * discount / 100
    if amount < 50:
        amount += shipping
    return round(amount, 2)
