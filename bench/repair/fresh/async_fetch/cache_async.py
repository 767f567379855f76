class Cache:
    def __init__(self, load):
        self.load = load
        self.kept = {}

    async def get(self, key):
        if key not in self.kept:
            self.kept[key] = self.load(key)
        return self.kept[key]

    async def many(self, keys):
        return [await self.get(key) for key in keys]
