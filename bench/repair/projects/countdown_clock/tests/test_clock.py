from clock import parts, show


def test_minutes():
    assert parts(125) == (0, 0, 2, 5)


def test_afternoon():
    assert parts(13 * 3600) == (0, 13, 0, 0)


def test_show():
    assert show(3661) == "01:01:01"
