from checkout.total import total


def test_plain():
    assert total([10, 5], 0, 4) == 19


def test_discount_first():
    assert total([20, 20], 10, 5) == 41.0


def test_free_shipping():
    assert total([60], 0, 5) == 60
