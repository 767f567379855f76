from billing.invoice import invoice
from billing.meter import Meter


def meter(*values):
    made = Meter("a1")
    for value in values:
        made.record(value)
    return made


def test_three():
    assert meter(5, 9, 20).used() == 15


def test_roll_over():
    assert meter(99990, 15).used() == 25


def test_invoice():
    assert invoice(meter(0, 100)) == 39.5
