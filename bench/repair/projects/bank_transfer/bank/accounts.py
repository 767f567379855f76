class InsufficientFunds(Exception):
    pass


class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.balance = balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(self.owner)
        self.balance -= amount

    def deposit(self, amount):
        self.balance += amount


def transfer(source, destination, amount):
    """Move money between two accounts."""
    source.withdraw(amount)
    source.deposit(amount)
