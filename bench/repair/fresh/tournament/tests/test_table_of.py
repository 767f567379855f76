from table_of import standing


def test_draw_and_win():
    assert standing([("b", "a", 1, 1), ("a", "c", 0, 2)]) == [("c", 3), ("a", 1), ("b", 1)]


def test_no_games():
    assert standing([]) == []
