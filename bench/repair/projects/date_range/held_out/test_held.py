from datetime import date

from dates import days


def test_one():
    assert days(date(2024, 1, 1), date(2024, 1, 1)) == [date(2024, 1, 1)]


def test_backwards():
    assert days(date(2024, 1, 2), date(2024, 1, 1)) == []
