from coins import change


def test_nothing():
    assert change(0) == []


def test_mixed():
    assert change(185) == [100, 50, 20, 10, 5]


def test_the_same_twice():
    assert change(440) == [200, 200, 20, 20]


def test_one_coin():
    assert change(50) == [50]
