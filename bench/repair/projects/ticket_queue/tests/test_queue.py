from queueing import TicketQueue


def test_order():
    q = TicketQueue()
    q.push("a")
    q.push("b")
    assert q.next() == "a"
    assert q.next() == "b"
    assert q.next() is None


def test_urgent_first():
    q = TicketQueue()
    q.push("a")
    q.push("b", urgent=True)
    q.push("c")
    assert [q.next(), q.next(), q.next()] == ["b", "a", "c"]


def test_length():
    q = TicketQueue()
    q.push(1)
    assert len(q) == 1
