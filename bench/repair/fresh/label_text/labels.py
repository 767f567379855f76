def plural(count, word):
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def status(done, total):
    if not total:
        return "nothing to do"
    left = total - done
    if not left:
        return "all done"
    return plural(done, "task") + " done," + plural(left, "task") + " left"
