from numbers_book import NumberBook


def test_code():
    assert NumberBook().code("acme gmbh") == "ACM"


def test_series():
    book = NumberBook("R")
    book.issue("Zo")
    assert book.issue("Zo") == "R-ZO-0002"


def test_issued():
    book = NumberBook()
    assert book.issued("X") == 0
    book.issue("X")
    assert book.issued("X") == 1
