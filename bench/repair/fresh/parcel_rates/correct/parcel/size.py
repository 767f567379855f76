class Parcel:
    def __init__(self, length, width, height, weight):
        self.length = length
        self.width = width
        self.height = height
        self.weight = weight

    def girth(self):
        return 2 * (self.width + self.height)

    def bulky(self):
        return self.length + self.girth() > 300
