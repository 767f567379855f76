class Bin:
    def __init__(self, room, items=()):
        self.room = room
        self.items = list(items)

    def fits(self, count):
        return len(self.items) + count <= self.room

    def put(self, items):
        self.items.extend(items)

    def take(self, count):
        taken, self.items = self.items[:count], self.items[count:]
        return taken


def move(source, target, count):
    """Move up to `count` items; False when they have no room."""
    count = min(count, len(source.items))
    if not source.fits(count):
        return False
    target.put(source.take(count))
    return True
