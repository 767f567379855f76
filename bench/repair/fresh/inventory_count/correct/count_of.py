from collections import Counter


def most_common(words, least=2):
    counts = Counter(words)
    return [word for word, count in counts.most_common() if count >= least]
