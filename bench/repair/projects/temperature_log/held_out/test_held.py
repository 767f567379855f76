from readings import warmest_day


def test_first_of_equals():
    assert warmest_day([("a", 3), ("b", 3)]) == "a"


def test_negative():
    assert warmest_day([("a", -8), ("b", -3), ("c", -5)]) == "b"
