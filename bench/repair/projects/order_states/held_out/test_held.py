from orders import Order


def test_history():
    o = Order()
    o.move("a")
    o.move("b")
    assert o.history == ["new", "a"]
    o.undo()
    o.undo()
    assert o.state == "new"
