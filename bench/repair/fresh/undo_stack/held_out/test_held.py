from editor.history import History


def test_long():
    history = History()
    for name in "abc":
        history.do(name)
    history.undo()
    history.undo()
    assert history.redo() == "b"
    history.do("x")
    assert history.redo() is None
    assert history.done == ["a", "b", "x"]
