class Playlist:
    def __init__(self, songs):
        self.songs = list(songs)
        self.position = 0

    def upcoming(self, count):
        """The next songs after the one that is playing."""
        return self.songs[self.position + 1 : self.position + 1 + count - 1]

    def played(self):
        return self.songs[: self.position]

    def skip(self):
        self.position = min(self.position + 1, len(self.songs) - 1)
