class Basket:
    def __init__(self):
        self.items = []

    def add_item(self, name, price):
        self.items.append((name, price))

    def total(self):
        return sum(price for _, price in self.items)

    def fill(self, pairs):
        for name, price in pairs:
            self.additem(name, price)
        return self
