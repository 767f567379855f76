from shapes import Rect


def test_below():
    assert not Rect(0, 0, 10, 2).contains(5, 3)


def test_bottom():
    assert Rect(0, 3, 1, 9).bottom() == 12
