from checkout.total import total


def test_discount_takes_free_shipping_away():
    assert total([55], 10, 5) == 54.5


def test_large():
    assert total([100], 20, 5) == 80
