"""Labels for numbered shelves."""


def label(number):
    """1 is A, 26 is Z, 27 is AA, 52 is AZ, 53 is BA."""
    return chr(64 + number)
