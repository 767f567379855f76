class NumberBook:
    """Hands out invoice numbers, one series for each customer."""

    def __init__(self, prefix="INV"):
        self.prefix = prefix
        self.next = {}

    def issue(self, customer):
        number = self.next.get(customer, 1)
        self.next[customer] = number + 1
        return f"{self.prefix}-{self.code(customer)}-{number:04d}"

    def code(self, customer):
        letters = [c for c in customer if c.isalpha()]
        return "".join(letters[:3])

    def issued(self, customer):
        return self.next.get(customer, 1) - 1
