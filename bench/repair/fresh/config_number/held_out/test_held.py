import pytest

from settings_file import number, size


def test_both():
    assert size({"width": "x"}) == (80, 24)
    assert size({}) == (80, 24)


def test_other_errors_are_told():
    with pytest.raises(TypeError):
        number({"a": None}, "a")
