class Role:
    def __init__(self, name, allows=(), parent=None):
        self.name = name
        self.allows = set(allows)
        self.parent = parent

    def can(self, action):
        if action in self.allows:
            return True
        if self.parent is not None:
            return self.parent.can(action)
        return True
