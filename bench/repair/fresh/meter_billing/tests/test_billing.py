from billing.invoice import invoice
from billing.meter import Meter


def meter(*values):
    made = Meter("a1")
    for value in values:
        made.record(value)
    return made


def test_two_readings():
    assert meter(100, 150).used() == 50


def test_unread_meter_costs_the_base():
    assert invoice(meter(10)) == 8.5
