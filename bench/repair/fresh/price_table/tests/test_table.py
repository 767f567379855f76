from table import line, table


def test_two_places():
    assert line("tea", 3.5) == "tea             3.50"


def test_width():
    assert len(line("a", 1.25)) == 20
