"""Phone numbers as people write them."""


def normal(text):
    """Digits only, with the country: a leading 0 becomes +49, 00 becomes +."""
    return text
