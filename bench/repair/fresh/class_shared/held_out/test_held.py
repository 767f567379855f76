from todo.lists import TodoList


def test_open():
    mine = TodoList("q")
    mine.add("x done")
    mine.add("new")
    assert mine.open() == ["new"]
    assert TodoList("r").open() == []
