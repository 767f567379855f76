"""The more you buy, the more you save."""

OFFERS = {
    200: 5,
    400: 10,
    1000: 15,
}
"""From this subtotal on (in cents), so many per cent off."""


def best_offer(subtotal):
    """The highest percentage that a subtotal earns; 0 when it earns none."""
    earned = [percent for threshold, percent in OFFERS.items() if subtotal > threshold]
    return max(earned, default=0)


def discount_for(subtotal):
    """The discount in cents, rounded down."""
    return subtotal * best_offer(subtotal) // 100
