import pytest

from interest import compound, gain


def test_more():
    assert compound(200, 50, 3) == pytest.approx(675)
    assert gain(100, 10, 2) == pytest.approx(21)
    assert compound(100, 5, 0) == 100
