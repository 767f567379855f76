from door.cards import Card
from door.reader import Reader


def test_expired_card():
    assert not Reader("lab").admit(Card("eve", ("lab",), expires=10), 11, 12)


def test_valid_card():
    assert Reader("lab").admit(Card("bob", ("lab",)), 3, 12)


def test_blocked_card():
    assert not Reader("lab").admit(Card("bob", ("lab",), blocked=True), 3, 12)


def test_night():
    assert Reader("lab").admit(Card("bob", ("lab", "night")), 3, 23)
