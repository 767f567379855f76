"""Run-length encoding."""


def encode(text):
    """[("a", 3), ("b", 1)] for "aaab"."""
    return [(letter, 1) for letter in text]


def decode(pairs):
    return "".join(letter * count for letter, count in pairs)
