DIGITS = "0123456789abcdef"


def in_base(number, base):
    """A number of at least 0 in another base."""
    if number == 0:
        return "0"
    text = ""
    while number > 0:
        number, digit = divmod(number, base)
        text = text + DIGITS[digit]
    return text
