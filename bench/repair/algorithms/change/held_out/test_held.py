from change import ways


def test_held():
    assert ways(10, [1, 5, 10]) == 4
    assert ways(100, [50, 25, 10, 5, 1]) == 292
