LIMITS = [(90, "A"), (80, "B"), (70, "C"), (60, "D")]


def grade(points):
    for limit, letter in LIMITS:
        if points > limit:
            return letter
    return "F"


def passed(results):
    return [name for name, points in results.items() if grade(points) != "F"]
