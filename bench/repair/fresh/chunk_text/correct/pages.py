def pages(lines, size):
    """Cut lines into pages of `size`; the last may be shorter."""
    return [lines[start : start + size] for start in range(0, len(lines), size)]


def page_of(lines, size, word):
    for number, page in enumerate(pages(lines, size), 1):
        if any(word in line for line in page):
            return number
    return None
