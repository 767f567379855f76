from report import line


def test_cut():
    assert line(["abcdef", 5], [3, 2]) == "abc|5"


def test_empty():
    assert line([], []) == ""
