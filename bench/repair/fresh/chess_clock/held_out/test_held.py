from clock.game import Clock, Side


def test_minutes():
    assert Side(125.2).shown() == "2:06"


def test_turns():
    clock = Clock(60, 1)
    clock.press(1.5)
    assert clock.press(10) == "0:51"
    assert clock.sides[0].shown() == "1:00"
