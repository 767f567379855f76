from roman import roman


def test_held():
    assert [roman(n) for n in (2, 8, 49, 300, 2024)] == ["II", "VIII", "XLIX", "CCC", "MMXXIV"]
