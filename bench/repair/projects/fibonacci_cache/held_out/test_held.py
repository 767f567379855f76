from series import triangular


def test_more():
    assert triangular(100) == 5050


def test_negative():
    assert triangular(-3) == 0
