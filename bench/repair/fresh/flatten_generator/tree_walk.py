class Node:
    def __init__(self, value, *children):
        self.value = value
        self.children = children

    def walk(self):
        yield self.value
        for child in self.children:
            yield child.walk()

    def total(self):
        return sum(self.walk())
