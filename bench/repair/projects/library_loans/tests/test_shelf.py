from library.models import Book, Shelf


def shelf():
    s = Shelf()
    s.add(Book("Dune", "Herbert", 1965))
    s.add(Book("Emma", "Austen", 1815))
    s.add(Book("Persuasion", "Austen", 1817))
    return s


def test_by_author():
    assert shelf().by_author("Austen") == ["Emma", "Persuasion"]


def test_older():
    assert shelf().older_than(1816) == ["Emma"]
