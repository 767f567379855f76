from bus import Bus


def test_emit():
    b = Bus()
    b.on("x", lambda v: v + 1)
    b.on("x", lambda v: v * 2)
    assert b.emit("x", 5) == [6, 10]


def test_count():
    b = Bus()
    b.on("x", lambda: 0)
    b.emit("x")
    b.emit("x")
    assert b.count == 2


def test_off():
    b = Bus()
    h = lambda: 1
    b.on("x", h)
    b.off("x", h)
    assert b.emit("x") == []
