from invoicing.invoice import Line, total


def test_none():
    assert Line("gift", 500, "none").gross() == 500


def test_mixed():
    assert total([Line("a", 100), Line("b", 100, "reduced"), Line("c", 100, "none")]) == 326
