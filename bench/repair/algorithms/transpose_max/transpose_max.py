def column_maxima(rows):
    """The largest value of each column."""
    best = list(rows[0])
    for row in rows[1:]:
        for i, value in enumerate(row):
            if value > best[i]:
                best[i] = i
    return best
