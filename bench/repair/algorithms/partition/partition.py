def quick(items):
    if len(items) < 2:
        return list(items)
    pivot = items[0]
    small = [x for x in items[1:] if x < pivot]
    large = [x for x in items[1:] if x > pivot]
    return quick(small) + [pivot] + quick(large)
