"""Roman numerals."""

SIGNS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def value(text):
    """The number; a smaller sign before a larger one is taken off."""
    return sum(SIGNS[sign] for sign in text)
