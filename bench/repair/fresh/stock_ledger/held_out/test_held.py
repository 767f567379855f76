import pytest

from shop.ledger import Ledger


def test_all_sold():
    ledger = Ledger()
    ledger.receive("tea", 5)
    ledger.sell("tea", 3)
    ledger.sell("tea", 2)
    assert ledger.stock == {}


def test_too_much():
    ledger = Ledger()
    ledger.receive("tea", 5)
    ledger.sell("tea", 3)
    with pytest.raises(ValueError):
        ledger.sell("tea", 3)
