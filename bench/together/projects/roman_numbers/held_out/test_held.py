from numerals import value


def test_more():
    assert [value(t) for t in ("IX", "XL", "CDXLIV", "MMXXVI", "II")] == [9, 40, 444, 2026, 2]
