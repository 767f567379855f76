from basket import Basket


def test_items():
    assert Basket().fill([("a", 1)]).items == [("a", 1)]
