class Directory:
    """People by mail address; addresses are equal whatever their case."""

    def __init__(self):
        self._people = {}

    def add(self, mail, name):
        self._people[mail.lower()] = name

    def find(self, mail):
        return self._people.get(mail)

    def remove(self, mail):
        self._people.pop(mail.lower(), None)
