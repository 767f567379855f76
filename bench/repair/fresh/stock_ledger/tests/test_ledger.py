from shop.ledger import Ledger
from shop.report import low


def test_low_after_sale():
    ledger = Ledger()
    ledger.receive("tea", 10)
    ledger.receive("jam", 4)
    ledger.sell("tea", 8)
    assert low(ledger, 3) == ["tea"]


def test_sold():
    ledger = Ledger()
    ledger.receive("tea", 10)
    assert ledger.sell("tea", 4) == 4
