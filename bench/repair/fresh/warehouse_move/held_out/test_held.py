from store.bins import Bin, move


def test_full_source():
    a, b = Bin(3, "xyz"), Bin(5)
    assert move(a, b, 9)
    assert (a.items, b.items) == ([], ["x", "y", "z"])
