class TodoList:
    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def add(self, text):
        self.items.append(text)
        return len(self.items)

    def open(self):
        return [text for text in self.items if not text.startswith("x ")]
