class History:
    def __init__(self):
        self.done = []
        self.undone = []

    def do(self, action):
        self.done.append(action)

    def undo(self):
        if not self.done:
            return None
        action = self.done.pop()
        self.undone.append(action)
        return action

    def redo(self):
        if not self.undone:
            return None
        action = self.undone.pop()
        self.done.append(action)
        return action

    def forget(self):
        self.done.clear()
        self.undone.clear()
