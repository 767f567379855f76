from dijkstra import shortest


def test_held():
    g = {1: {2: 7, 3: 9, 6: 14}, 2: {3: 10, 4: 15}, 3: {4: 11, 6: 2}, 4: {5: 6}, 6: {5: 9}}
    assert shortest(g, 1) == {1: 0, 2: 7, 3: 9, 4: 20, 5: 20, 6: 11}
