"""What the shop sells."""

PRICES = {
    "apple": 50,
    "bread": 250,
    "cheese": 480,
    "soap": 199,
}

TAX_RATES = {
    "apple": 7,
    "bread": 7,
    "cheese": 7,
    "soap": 19,
}


def price_of(sku):
    """The price of one piece, tax included."""
    return PRICES[sku]


def tax_rate_of(sku):
    """The tax rate of a product, in per cent."""
    return TAX_RATES[sku]
