def clean(answer):
    return answer.strip().lower()


def tally(answers):
    counts = {}
    for answer in answers:
        key = answer
        if not key:
            continue
        counts[key] = counts.get(key, 0) + 1
    return counts


def share(answers, wanted):
    counts = tally(answers)
    total = sum(counts.values())
    return round(100 * counts.get(wanted, 0) / total) if total else 0
