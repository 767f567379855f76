from datetime import date

from lease import Lease


def test_week():
    assert Lease(date(2024, 5, 1), date(2024, 5, 7), 10).cost() == 60


def test_leap():
    assert Lease(date(2024, 2, 28), date(2024, 3, 1), 10).days() == 3
