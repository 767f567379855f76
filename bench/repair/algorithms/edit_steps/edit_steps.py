def steps(a, b):
    """Fewest insertions, deletions and replacements that make b of a."""
    if not a or not b:
        return 0
    if a[0] == b[0]:
        return steps(a[1:], b[1:])
    return 1 + min(steps(a[1:], b), steps(a, b[1:]), steps(a[1:], b[1:]))
