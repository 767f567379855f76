from orders import Order


def test_state():
    o = Order()
    o.move("paid")
    assert o.state == "paid"


def test_undo():
    o = Order()
    o.move("paid")
    o.move("sent")
    o.undo()
    assert o.state == "paid"


def test_undo_nothing():
    o = Order()
    o.undo()
    assert o.state == "new"
