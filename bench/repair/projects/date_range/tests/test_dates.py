from datetime import date

from dates import days, weekends


def test_days():
    assert days(date(2024, 1, 30), date(2024, 2, 1)) == [date(2024, 1, 30), date(2024, 1, 31), date(2024, 2, 1)]


def test_weekends():
    assert weekends(date(2024, 1, 1), date(2024, 1, 8)) == [date(2024, 1, 6), date(2024, 1, 7)]
