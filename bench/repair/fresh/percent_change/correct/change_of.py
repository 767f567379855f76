def change(old, new):
    """Per cent by which a value went up (or down)."""
    if old == 0:
        return None
    return round((new - old) / old * 100, 1)


def changes(values):
    return [change(a, b) for a, b in zip(values, values[1:])]
