class Poll:
    def __init__(self, choices):
        self.counts = {choice: 0 for choice in choices}

    def vote(self, choice, weight=1):
        if choice not in self.counts:
            raise KeyError(choice)
        self.counts[choice] = weight

    def winner(self):
        return max(self.counts, key=self.counts.get)
