"""Electricity meters that count up and roll over."""


class Meter:
    def __init__(self, serial, digits=5):
        self.serial = serial
        self.limit = 10 ** digits
        self.readings = []

    def record(self, value):
        if not 0 <= value < self.limit:
            raise ValueError(f"reading {value} out of range")
        self.readings.append(value)

    def used(self):
        total = 0
        for before, after in zip(self.readings, self.readings[1:]):
            step = after - before
            if step < 0:
                step += self.limit
            total += before
        return total
