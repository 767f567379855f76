def groups(words):
    """Words by their first letter, letters in order of appearance."""
    found = {}
    for word in words:
        if not word:
            continue
        first = word[0].lower()
        if first not in found:
            found[first] = []
            found[first].append(word)
    return found


def longest(words):
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
    return best
