def parts(seconds):
    """Days, hours, minutes and seconds."""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 12)
    return days, hours, minutes, seconds


def show(seconds):
    days, hours, minutes, seconds = parts(seconds)
    text = f"{hours:02d}:{minutes:02d}:{seconds:02d}"
    return f"{days}d {text}" if days else text
