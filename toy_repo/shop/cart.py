"""The cart of one customer."""

from shop.discounts import discount_for
from shop.prices import price_of


class Cart:
    """Products and how many of each."""

    def __init__(self):
        self.quantities = {}

    def add(self, sku, quantity=1):
        """Put some pieces of a product into the cart, on top of those already there."""
        self.quantities.setdefault(sku, 0)
        self.quantities[sku] = quantity

    def lines(self):
        """A list of (sku, quantity, amount), in the order in which the products were first added."""
        return [(sku, count, price_of(sku) * count) for sku, count in self.quantities.items()]

    def subtotal(self):
        """The sum of all lines, before any discount."""
        return sum(amount for _, _, amount in self.lines())

    def total(self):
        """What the customer pays."""
        subtotal = self.subtotal()
        return subtotal - discount_for(subtotal)
