from cipher import decode, encode


def test_encode():
    assert encode("abc xyz", 3) == "def abc"


def test_upper():
    assert encode("AZ", 1) == "BA"


def test_back():
    assert decode(encode("Hello, World", 7), 7) == "Hello, World"


def test_other():
    assert encode("12!", 5) == "12!"
