from hall.seats import Hall, Row


def test_full_row_is_passed_over():
    hall = Hall([Row("A", 2), Row("B", 4)])
    hall.book("A", 1)
    assert hall.best_row(2) == "B"


def test_double_booking():
    hall = Hall([Row("A", 2)])
    assert hall.book("A", 1)
    assert not hall.book("A", 1)


def test_first_row_wins():
    assert Hall([Row("B", 4), Row("A", 4)]).best_row(3) == "A"
