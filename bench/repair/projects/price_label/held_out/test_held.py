from labels import label, price


def test_small():
    assert price(5) == "0.05 EUR"
    assert label("Tea", 305, 12) == "Tea 3.05 EUR"
