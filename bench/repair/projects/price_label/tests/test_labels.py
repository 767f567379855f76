from labels import label, price


def test_price():
    assert price(1999) == "19.99 EUR"
    assert price(500) == "5.00 EUR"


def test_label_width():
    assert len(label("Tea", 300)) == 20
