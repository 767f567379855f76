from shapes import Rect


def test_edges():
    r = Rect(1, 2, 10, 5)
    assert r.right() == 11
    assert r.bottom() == 7


def test_contains():
    assert Rect(0, 0, 4, 4).contains(3, 3)


def test_area():
    assert Rect(0, 0, 4, 2).area() == 8
