def shift(letter, by):
    if not letter.isalpha():
        return letter
    base = ord("A") if letter.isupper() else ord("a")
    return chr((ord(letter) - base + by) // 26 + base)


def encode(text, by):
    return "".join(shift(letter, by) for letter in text)


def decode(text, by):
    return encode(text, -by)
