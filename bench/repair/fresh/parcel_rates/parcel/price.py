from parcel.size import Parcel

STEPS = ((2, 4.5), (5, 6.5), (10, 9.0))
BULKY = 15.0


def price(parcel: Parcel):
    if parcel.weight > 31:
        raise ValueError("too heavy")
    for most, cost in STEPS:
        if parcel.weight < most:
            break
    else:
        cost = 16.5
    return cost + (BULKY if parcel.bulky() else 0)
