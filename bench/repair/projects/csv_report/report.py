def pad(text, width):
    return text[:width].ljust(width)


def line(columns, widths):
    return "|".join(pad(width, str(column)) for column, width in zip(columns, widths)).rstrip()


def table(rows, widths):
    return "\n".join(line(row, widths) for row in rows)
