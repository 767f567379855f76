import pytest

from grades import grade, passed


@pytest.mark.parametrize(("points", "letter"), [(95, "A"), (85, "B"), (75, "C"), (65, "D"), (10, "F")])
def test_inside(points, letter):
    assert grade(points) == letter


def test_limits():
    assert grade(90) == "A"
    assert grade(60) == "D"


def test_passed():
    assert passed({"x": 61, "y": 59}) == ["x"]
