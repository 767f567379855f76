from numbers_book import NumberBook


def test_other():
    assert NumberBook().issue("o'neil") == "INV-ONE-0001"


def test_digits():
    assert NumberBook().code("4you2") == "YOU"
