class Config:
    def __init__(self, values):
        self.values = values

    def get(self, path, default=None):
        """A value by dotted path; the default when any part is missing."""
        node = self.values
        try:
            for part in path.split("."):
                node = node[part]
        except IndexError:
            return default
        return node
