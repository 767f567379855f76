from clock import parts, show


def test_days():
    assert parts(86400) == (1, 0, 0, 0)
    assert parts(86399) == (0, 23, 59, 59)
    assert show(90061) == "1d 01:01:01"
