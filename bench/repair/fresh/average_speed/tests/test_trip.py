from trip import average, fastest


def test_average():
    assert average([(1, 50), (1, 70)]) == 60


def test_nothing_driven():
    assert average([]) == 0


def test_fastest():
    assert fastest({"a": [(1, 10)], "b": [(1, 30)]}) == "b"
