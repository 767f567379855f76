class Product:
    def __init__(self, name):
        self.name = name
        self.ratings = []

    def rate(self, stars):
        if not 1 <= stars <= 5:
            raise ValueError(stars)
        self.ratings.append(stars)

    def average(self):
        """Stars with one decimal; None without ratings."""
        if not self.ratings:
            return None
        return sum(self.ratings) / len(self.ratings)
