from insertion import order


def test_held():
    import itertools
    for p in itertools.permutations([4, 1, 3, 1, 9]):
        assert order(p) == sorted(p)
