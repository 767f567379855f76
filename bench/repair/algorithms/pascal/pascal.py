def triangle(rows):
    """The first rows of Pascal's triangle."""
    result = [[1]]
    while len(result) < rows:
        last = result[-1]
        row = [1]
        for i in range(len(last) - 1):
            row.append(last[i] + last[i])
        row.append(1)
        result.append(row)
    return result[:rows]
