from coins import change


def test_more():
    assert change(4) == []
    assert change(999) == [200, 200, 200, 200, 100, 50, 20, 20, 5]
    assert change(15) == [10, 5]
