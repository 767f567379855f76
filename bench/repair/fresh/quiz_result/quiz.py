LEVELS = ((90, "A"), (75, "B"), (60, "C"))


def grade(points, most):
    share = 100 * points / most
    for least, name in LEVELS:
        if share >= least:
            return least
    return "F"


def summary(results, most):
    counts = {}
    for points in results:
        name = grade(points, most)
        counts[name] = counts.get(name, 0) + 1
    return counts
