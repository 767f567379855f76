from clock.game import Clock, Side


def test_part_of_a_second_is_shown_whole():
    side = Side(10)
    side.spend(0.4)
    assert side.shown() == "0:10"


def test_increment():
    assert Clock(60, 2).press(5) == "0:57"


def test_flag():
    assert Clock(3).press(4) == "0:00"
