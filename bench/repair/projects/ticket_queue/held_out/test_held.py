from queueing import TicketQueue


def test_many():
    q = TicketQueue()
    for i in range(5):
        q.push(i)
    assert [q.next() for _ in range(6)] == [0, 1, 2, 3, 4, None]
