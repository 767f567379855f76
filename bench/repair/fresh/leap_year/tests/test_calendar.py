from calendar_days import day_of_year, days, leap


def test_february_2000():
    assert days(2000, 2) == 29


def test_1900():
    assert not leap(1900)


def test_day_of_year():
    assert day_of_year(2023, 3, 1) == 60
