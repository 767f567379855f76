class Rect:
    def __init__(self, x, y, width, height):
        self.x = x
        self.y = y
        self.width = width
        self.height = height

    def right(self):
        return self.x + self.width

    def bottom(self):
        return self.y + self.width

    def contains(self, px, py):
        return self.x <= px < self.right() and self.y <= py < self.bottom()

    def area(self):
        return self.width * self.height
