from door.cards import Card
from door.reader import Reader


def test_last_day():
    assert Reader("lab").admit(Card("eve", ("lab",), expires=10), 10, 12)


def test_other_zone():
    assert not Reader("lab").admit(Card("eve", ("hall",)), 1, 12)


def test_expired_at_night():
    reader = Reader("lab")
    assert not reader.admit(Card("eve", ("lab", "night"), expires=2), 5, 23)
    assert reader.log == [("eve", False)]
