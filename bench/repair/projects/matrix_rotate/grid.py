def transpose(rows):
    return [list(column) for column in zip(*rows)]


def rotate(rows):
    """A quarter turn clockwise."""
    return [list(column) for column in zip(*rows)]


def diagonal(rows):
    return [rows[i][i] for i in range(len(rows))]
