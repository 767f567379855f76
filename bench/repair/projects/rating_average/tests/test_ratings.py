import pytest

from ratings import Product


def test_average():
    p = Product("x")
    for s in (5, 4, 4):
        p.rate(s)
    assert p.average() == 4.3


def test_none():
    assert Product("x").average() is None


def test_range():
    with pytest.raises(ValueError):
        Product("x").rate(6)
