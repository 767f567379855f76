from shuffle_perms import arrangements


def test_held():
    import itertools
    assert arrangements([1, 2, 3]) == [list(p) for p in itertools.permutations([1, 2, 3])]
    assert len(arrangements([1, 2, 3, 4])) == 24
