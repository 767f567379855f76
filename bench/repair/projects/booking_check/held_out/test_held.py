import pytest

from booking import Room


def test_none():
    with pytest.raises(ValueError):
        Room(2).book(0)


def test_one():
    r = Room(1)
    r.book(1)
    assert r.booked == 1
