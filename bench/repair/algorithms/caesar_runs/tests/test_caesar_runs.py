from caesar_runs import runs


def test_1():
    assert runs("aab") == [("a", 2), ("b", 1)]


def test_2():
    assert runs("") == []


def test_3():
    assert runs("abc") == [("a", 1), ("b", 1), ("c", 1)]

