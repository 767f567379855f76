from calendar_days import leap


def test_years():
    assert [y for y in range(1880, 2012, 4) if not leap(y)] == [1900]
    assert not leap(2100) and leap(2400) and not leap(2001)
