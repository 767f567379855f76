from circle import area


def test_zero():
    assert area(0) == 0
