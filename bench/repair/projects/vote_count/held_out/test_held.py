from votes import Poll


def test_sum():
    p = Poll("ab")
    p.vote("a", 2)
    p.vote("a", 5)
    assert p.counts == {"a": 7, "b": 0}
