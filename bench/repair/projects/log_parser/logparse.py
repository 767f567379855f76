import re

PATTERN = re.compile(r"(\d{4}-\d\d-\d\d) (\w+): (.*)")


def parse(line):
    match = PATTERN.match(line)
    if match is None:
        return None
    date, level, message = match.groups()
    return {"date": date, "level": level, "message": message}


def levels(lines):
    """How many lines of each level; lines that do not parse are left out."""
    counts = {}
    for line in lines:
        entry = parse(line)
        if entry is not None:
            counts[entry["level"]] = counts.get(entry["level"], 0) + 1
        return counts
