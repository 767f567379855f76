from dataclasses import dataclass, field


@dataclass
class Book:
    title: str
    author: str
    year: int


@dataclass
class Shelf:
    books: list = field(default_factory=list)

    def add(self, book):
        self.books.append(book)

    def by_author(self, name):
        return [book.title for book in self.books if book.title == name]

    def older_than(self, year):
        return [book.title for book in self.books if book.year < year]
