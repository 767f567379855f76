from stats import mean, spread, summary


def test_mean():
    assert mean([1, 2]) == 1.5


def test_spread():
    assert spread([3, 9, 4]) == 6


def test_empty_summary():
    assert summary([]) == {"n": 0, "mean": 0.0, "spread": 0}
