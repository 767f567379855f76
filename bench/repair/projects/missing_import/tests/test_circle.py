import pytest

from circle import area, diameter


def test_area():
    assert area(2) == pytest.approx(12.566370614)


def test_diameter():
    assert diameter(2) == 4
