from hall.seats import Hall, Row


def test_none():
    hall = Hall([Row("A", 1)])
    hall.book("A", 1)
    assert hall.best_row(1) is None


def test_enough_left():
    hall = Hall([Row("A", 3)])
    hall.book("A", 2)
    assert hall.best_row(2) == "A"
    assert hall.best_row(3) is None
