def collect(text, found=[]):
    """The words that begin with #, without it; added to `found` when that is given."""
    for word in text.split():
        if word.startswith("#"):
            found.append(word[1:])
    return found
