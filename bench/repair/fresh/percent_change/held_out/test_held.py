from change_of import change, changes


def test_down():
    assert change(80, 60) == -25.0
    assert changes([1, 2, 1]) == [100.0, -50.0]
