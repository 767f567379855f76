from quiz import grade, summary


def test_edges():
    assert grade(15, 20) == "B"
    assert grade(12, 20) == "C"


def test_summary():
    assert summary([20, 19, 0], 20) == {"A": 2, "F": 1}
