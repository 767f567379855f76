from datetime import date

from lease import Lease


def test_one_day():
    assert Lease(date(2024, 5, 1), date(2024, 5, 1), 10).cost() == 10
