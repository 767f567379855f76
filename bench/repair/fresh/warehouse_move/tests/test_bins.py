from store.bins import Bin, move


def test_moves():
    a, b = Bin(5, "xyz"), Bin(5)
    assert move(a, b, 2)
    assert b.items == ["x", "y"]


def test_full_target():
    a, b = Bin(9, "xyz"), Bin(1, "q")
    assert not move(a, b, 2)
    assert a.items == ["x", "y", "z"]
