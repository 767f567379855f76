from duty import Duty


def test_skips_but_keeps_place():
    duty = Duty(["a", "b", "c"])
    duty.leave("a")
    assert [duty.next(), duty.next(), duty.next()] == ["b", "c", "b"]


def test_all_away():
    duty = Duty(["a"])
    duty.leave("a")
    assert duty.next() is None
