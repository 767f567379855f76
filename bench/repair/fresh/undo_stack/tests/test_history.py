from editor.history import History


def test_undo_and_redo():
    history = History()
    history.do("a")
    assert history.undo() == "a"
    assert history.redo() == "a"


def test_a_new_action_ends_redoing():
    history = History()
    history.do("a")
    history.undo()
    history.do("b")
    assert history.redo() is None


def test_nothing():
    assert History().undo() is None
