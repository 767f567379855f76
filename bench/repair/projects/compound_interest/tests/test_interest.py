import pytest

from interest import compound, gain


def test_one_year():
    assert compound(100, 5, 1) == pytest.approx(105)


def test_two_years():
    assert compound(100, 10, 2) == pytest.approx(121)


def test_no_gain():
    assert gain(100, 0, 1) == 0
