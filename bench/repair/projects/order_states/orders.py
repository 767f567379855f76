class Order:
    def __init__(self):
        self.state = "new"
        self.history = []

    def move(self, state):
        """Change the state and remember the one before."""
        self.state = state
        self.history.append(self.state)

    def undo(self):
        if self.history:
            self.state = self.history.pop()
