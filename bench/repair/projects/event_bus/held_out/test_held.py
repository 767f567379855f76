from bus import Bus


def test_counted_without_handlers():
    b = Bus()
    b.emit("x")
    assert b.count == 1


def test_two_handlers_count_once():
    b = Bus()
    b.on("x", lambda: 0)
    b.on("x", lambda: 0)
    b.emit("x")
    assert b.count == 1
