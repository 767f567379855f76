from binary_find import find


def test_held():
    for n in range(9):
        items = [i * 2 for i in range(n)]
        for w in range(-1, 2 * n + 1):
            assert find(items, w) == (items.index(w) if w in items else -1)
