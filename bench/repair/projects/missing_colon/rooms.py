def capacity(rooms):
    return sum(room["seats"] for room in rooms)


def largest(rooms):
    best = None
    for room in rooms:
        if best is None or room["seats"] > best["seats"]
            best = room
    return best
