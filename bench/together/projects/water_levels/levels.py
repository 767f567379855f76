"""Warnings of a river gauge."""


def warnings(levels, limit):
    """(first, last) index of each stretch at or above the limit."""
    return []
