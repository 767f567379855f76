from signals.core import Signal


def test_nobody():
    signal = Signal()
    assert signal.send(1) == []
    assert signal.sent == 0


def test_two():
    signal = Signal()
    signal.connect(abs)
    signal.connect(abs)
    signal.send(1)
    assert signal.sent == 2
