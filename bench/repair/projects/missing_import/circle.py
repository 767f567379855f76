

def area(radius):
    return math.pi * radius ** 2


def diameter(radius):
    return 2 * radius
