from levels import distances


def test_held():
    g = {0: [1, 2], 1: [3], 2: [3], 3: [4, 0], 4: [5], 5: []}
    assert distances(g, 0) == {0: 0, 1: 1, 2: 1, 3: 2, 4: 3, 5: 4}
    assert distances(g, 4) == {4: 0, 5: 1}
