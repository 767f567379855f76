from knap import best_value


def test_held():
    import itertools
    items = [(2, 3), (3, 4), (4, 8), (5, 8), (9, 10)]
    for c in range(20):
        best = max(sum(v for _, v in s) for k in range(6) for s in itertools.combinations(items, k) if sum(w for w, _ in s) <= c)
        assert best_value(items, c) == best
