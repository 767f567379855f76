from basket import Basket


def test_total():
    b = Basket()
    b.add_item("a", 2)
    assert b.total() == 2


def test_fill():
    assert Basket().fill([("a", 1), ("b", 2)]).total() == 3
