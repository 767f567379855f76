import math


class Side:
    def __init__(self, seconds):
        self.left = seconds
        self.moves = 0

    def spend(self, seconds):
        self.left -= seconds
        self.moves += 1

    def bonus(self, seconds):
        self.left += seconds

    def flagged(self):
        return self.left <= 0

    def shown(self):
        whole = max(0, math.floor(self.left))
        return f"{whole // 60}:{whole % 60:02d}"


class Clock:
    def __init__(self, seconds, increment=0):
        self.sides = [Side(seconds), Side(seconds)]
        self.increment = increment
        self.turn = 0

    def press(self, seconds):
        side = self.sides[self.turn]
        side.spend(seconds)
        if not side.flagged():
            side.bonus(self.increment)
        self.turn = 1 - self.turn
        return side.shown()
