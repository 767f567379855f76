def delays(attempts, base=1.0, factor=2.0, cap=None):
    found = []
    wait = base
    for _ in range(attempts):
        found.append(wait if cap is None else min(wait, cap))
        wait *= factor
    return found


def total_wait(attempts, cap=None):
    return sum(delays(attempts))


def describe(attempts, cap=None):
    return f"{attempts} tries in {total_wait(attempts, cap):.0f} s"
