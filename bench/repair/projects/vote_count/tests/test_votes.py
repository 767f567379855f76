import pytest

from votes import Poll


def test_winner():
    p = Poll("abc")
    for c in "abb":
        p.vote(c)
    assert p.winner() == "b"
    assert p.counts == {"a": 1, "b": 2, "c": 0}


def test_unknown():
    with pytest.raises(KeyError):
        Poll("ab").vote("z")


def test_weight():
    p = Poll("ab")
    p.vote("a", 3)
    assert p.counts["a"] == 3
