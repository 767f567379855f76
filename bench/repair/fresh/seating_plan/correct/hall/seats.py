from dataclasses import dataclass, field


@dataclass
class Row:
    letter: str
    seats: int
    taken: set = field(default_factory=set)

    @property
    def free(self):
        return self.seats - len(self.taken)


class Hall:
    def __init__(self, rows):
        self.rows = {row.letter: row for row in rows}

    def book(self, letter, number):
        row = self.rows[letter]
        if number in row.taken or number > row.seats:
            return False
        row.taken.add(number)
        return True

    def best_row(self, people):
        fitting = [row for row in self.rows.values() if row.free >= people]
        return min(fitting, key=lambda row: row.letter).letter if fitting else None
