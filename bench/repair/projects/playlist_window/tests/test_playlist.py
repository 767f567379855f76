from playlist import Playlist


def test_upcoming():
    p = Playlist("abcde")
    assert p.upcoming(2) == ["b", "c"]


def test_played():
    p = Playlist("abc")
    p.skip()
    assert p.played() == ["a"]


def test_skip_stops():
    p = Playlist("ab")
    for _ in range(5):
        p.skip()
    assert p.position == 1
