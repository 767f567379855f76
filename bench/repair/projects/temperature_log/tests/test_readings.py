from readings import mean, warmest_day


def test_warmest():
    assert warmest_day([("mon", 12), ("tue", 19), ("wed", 15)]) == "tue"


def test_none():
    assert warmest_day([]) is None


def test_mean():
    assert mean([1, 2, 3]) == 2
