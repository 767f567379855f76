from stock import Item, to_order


def test_mix():
    items = [Item("a", 5, 5), Item("b", 0, 1), Item("c", 9, 1, True), Item("d", 0, 1, True)]
    assert to_order(items) == ["b"]
