def parse(line):
    name, *values = line.strip().split(";")
    return name, [float(value) for value in values]


def best(lines):
    found = {}
    for line in lines:
        name, values = parse(line)
        if values:
            found[name] = max(values)
    return found
