import re


def words(text):
    return re.findall(r"[a-z']+", text.lower())


def frequencies(text):
    counts = {}
    for word in words(text):
        counts[word] = counts.get(word, 0) + 1
    return counts


def vocabulary(text):
    """All words, once each, in alphabetical order."""
    return list(set(words(text)))


def longest(text):
    return max(words(text), key=len)
