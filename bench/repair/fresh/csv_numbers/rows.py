def parse(line):
    name, *values = line.strip().split(";")
    return name, values


def best(lines):
    found = {}
    for line in lines:
        name, values = parse(line)
        if values:
            found[name] = max(values)
    return found
