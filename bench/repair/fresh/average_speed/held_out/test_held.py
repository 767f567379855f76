from trip import average, fastest


def test_standing_still():
    assert average([(0, 0)]) == 0
    assert average([(2, 0)]) == 0


def test_fastest_with_empty():
    assert fastest({"a": [], "b": [(1, 3)]}) == "b"
