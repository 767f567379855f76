class Signal:
    def __init__(self):
        self.listeners = []
        self.sent = 0

    def connect(self, listener):
        self.listeners.append(listener)
        return listener

    def send(self, value):
        results = [listener(value) for listener in self.listeners]
        sent = self.sent + len(results)
        return results
