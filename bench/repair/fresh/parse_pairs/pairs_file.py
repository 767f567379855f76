def read(text):
    """Name and value of each line "name = value"; comments start with #."""
    found = {}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if "=" not in line:
            continue
        name, value = line.split("=", 1)
        found[name.strip() = value.strip()
    return found)


def write(pairs):
    return "\n".join(f"{name} = {value}" for name, value in sorted(pairs.items()))
