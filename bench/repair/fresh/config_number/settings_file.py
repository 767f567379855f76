def number(settings, name, default=0):
    """A whole number out of settings; what is missing or no number counts as `default`."""
    try:
        return int(settings[name])
    except KeyError:
        return default


def size(settings):
    return number(settings, "width", 80), number(settings, "height", 24)
