class Room:
    def __init__(self, seats):
        self.seats = seats
        self.booked = 0

    def book(self, count):
        """Book seats. ValueError for fewer than one or more than are free."""
        if count > self.free():
            raise ValueError(count)
        self.booked += count

    def free(self):
        return self.seats - self.booked
