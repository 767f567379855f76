from library.models import Book, Shelf


def test_nobody():
    assert Shelf().by_author("X") == []


def test_one():
    s = Shelf()
    s.add(Book("T", "A", 1))
    s.add(Book("A", "B", 2))
    assert s.by_author("A") == ["T"]
