WIDTH = 12


def line(name, price):
    return f"{name:<{WIDTH}}{price:8.2f}"


def table(rows):
    return "\n".join(line(name, price) for name, price in rows)
