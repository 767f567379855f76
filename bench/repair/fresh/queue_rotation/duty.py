class Duty:
    """Who does the washing-up: the one who has waited longest and is at home."""

    def __init__(self, people):
        self.queue = list(people)
        self.away = set()

    def next(self):
        for person in list(self.queue):
            if person in self.away:
                continue
            return person
            self.queue.remove(person)
            self.queue.append(person)
        return None

    def leave(self, person):
        self.away.add(person)
