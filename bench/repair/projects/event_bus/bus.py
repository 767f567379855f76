class Bus:
    def __init__(self):
        self.handlers = {}
        self.count = 0

    def on(self, event, handler):
        self.handlers.setdefault(event, []).append(handler)

    def off(self, event, handler):
        self.handlers.get(event, []).remove(handler)

    def emit(self, event, *args):
        """Calls the handlers, counts the event, returns what they returned."""
        results = []
        for handler in self.handlers.get(event, []):
            results.append(handler(*args))
        return results
