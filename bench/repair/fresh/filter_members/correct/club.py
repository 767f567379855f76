from dataclasses import dataclass


@dataclass
class Member:
    name: str
    paid: bool = True
    active: bool = True


class Club:
    def __init__(self, members):
        self.members = members

    def voters(self):
        """Active members who have paid."""
        return sorted(m.name for m in self.members if m.active and m.paid)

    def quorum(self):
        return len(self.voters()) // 2 + 1

    def debtors(self):
        return [m.name for m in self.members if not m.paid]
