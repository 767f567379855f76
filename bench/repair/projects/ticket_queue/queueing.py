from collections import deque


class TicketQueue:
    """First come, first served; urgent tickets jump the queue."""

    def __init__(self):
        self.waiting = deque()

    def push(self, ticket, urgent=False):
        if urgent:
            self.waiting.appendleft(ticket)
        else:
            self.waiting.append(ticket)

    def next(self):
        if not self.waiting:
            return None
        return self.waiting.pop()

    def __len__(self):
        return len(self.waiting)
