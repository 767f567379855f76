def normal(number, country="49"):
    """Digits only, in international form."""
    digits = "".join(c for c in number if c.isdigit())
    if number.strip().startswith("+"):
        return "+" + digits
    if digits.startswith("00"):
        return "+" + digits
    if digits.startswith("0"):
        return f"+{country}{digits[1:]}"
    return f"+{country}{digits}"


def same(a, b):
    return normal(a) == normal(b)
