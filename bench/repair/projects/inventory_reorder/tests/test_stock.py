from stock import Item, to_order, value


def test_low():
    assert to_order([Item("a", 1, 5), Item("b", 9, 5)]) == ["a"]


def test_discontinued():
    assert to_order([Item("a", 1, 5, True)]) == []


def test_value():
    assert value([Item("a", 2, 1)], {"a": 3}) == 6
