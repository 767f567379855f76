from dataclasses import dataclass


@dataclass(frozen=True)
class Meeting:
    start: int
    end: int
    room: str

    def overlaps(self, other):
        return self.start < other.end and other.start <= self.end


def clashes(meetings):
    found = []
    for i, first in enumerate(meetings):
        for second in meetings[i + 1 :]:
            if first.room == second.room and first.overlaps(second):
                found.append((first, second))
    return found
