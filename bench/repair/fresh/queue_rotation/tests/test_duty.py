from duty import Duty


def test_takes_turns():
    duty = Duty(["ann", "bo"])
    assert [duty.next(), duty.next(), duty.next()] == ["ann", "bo", "ann"]


def test_away():
    duty = Duty(["ann", "bo"])
    duty.leave("ann")
    assert duty.next() == "bo"
