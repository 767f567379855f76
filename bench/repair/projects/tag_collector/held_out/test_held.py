from tags import collect


def test_fresh():
    assert collect("") == []
    assert collect("#a #b") == ["a", "b"]
    assert collect("") == []


def test_given_empty():
    mine = []
    assert collect("#z", mine) is mine
    assert mine == ["z"]
