from table import table


def test_rows():
    assert table([("a", 10), ("b", 0.333)]) == "a              10.00\nb               0.33"
