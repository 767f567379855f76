from playlist import Playlist


def test_none():
    assert Playlist("abc").upcoming(0) == []


def test_later():
    p = Playlist("abcdef")
    p.skip()
    assert p.upcoming(3) == ["c", "d", "e"]
    assert p.upcoming(99) == ["c", "d", "e", "f"]
