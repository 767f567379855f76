from quiz import grade


def test_best():
    assert grade(19, 20) == "A"


def test_failed():
    assert grade(1, 20) == "F"
