import pytest

from shop.prices import PRICES, price_of, tax_rate_of


def test_every_product_has_a_price_and_a_tax_rate():
    for sku in PRICES:
        assert price_of(sku) > 0
        assert tax_rate_of(sku) in (7, 19)


def test_an_unknown_product_is_refused():
    with pytest.raises(KeyError):
        price_of("unicorn")
