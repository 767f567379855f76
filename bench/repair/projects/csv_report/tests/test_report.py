from report import line, pad, table


def test_pad():
    assert pad("abc", 5) == "abc  "
    assert pad("abcdef", 3) == "abc"


def test_line():
    assert line(["a", 12], [3, 4]) == "a  |12"


def test_table():
    assert table([["x", "y"], ["z", "w"]], [2, 1]) == "x |y\nz |w"
