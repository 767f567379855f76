from dataclasses import dataclass


@dataclass
class Card:
    owner: str
    zones: tuple
    blocked: bool = False
    expires: int = 0

    def expired(self, day):
        return self.expires != 0 and day > self.expires
