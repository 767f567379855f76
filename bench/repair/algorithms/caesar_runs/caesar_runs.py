def runs(text):
    """Run lengths: "aab" -> [("a", 2), ("b", 1)]."""
    result = []
    for char in text:
        if result and result[-1][0] == char:
            result[-1] = (char, result[-1][0] + 1)
        else:
            result.append((char, 1))
    return result
