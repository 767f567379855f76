import pytest

from booking import Room


def test_book():
    r = Room(5)
    r.book(3)
    assert r.free() == 2


def test_too_many():
    with pytest.raises(ValueError):
        Room(2).book(3)


def test_negative():
    with pytest.raises(ValueError):
        Room(2).book(-1)


def test_all():
    r = Room(2)
    r.book(2)
    assert r.free() == 0
