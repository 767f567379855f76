from signals.core import Signal


def test_counts_what_was_sent():
    signal = Signal()
    signal.connect(str)
    signal.send(1)
    signal.send(2)
    assert signal.sent == 2


def test_results():
    signal = Signal()
    signal.connect(str)
    signal.connect(abs)
    assert signal.send(-3) == ["-3", 3]
