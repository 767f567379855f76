from todo.lists import TodoList


def test_add():
    assert TodoList("a").add("tea") == 1


def test_lists_are_apart():
    first, second = TodoList("a"), TodoList("b")
    first.add("tea")
    second.add("jam")
    assert second.items == ["jam"]
