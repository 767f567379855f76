class Ledger:
    def __init__(self):
        self.stock = {}
        self.sold = 0

    def receive(self, item, amount):
        self.stock[item] = self.stock.get(item, 0) + amount

    def sell(self, item, amount):
        if self.stock.get(item, 0) < amount:
            raise ValueError(f"only {self.stock.get(item, 0)} of {item} left")
        self.stock[item] -= amount
        self.sold += amount
        if self.stock[item] == 0:
            del self.stock[item]
        return self.sold
