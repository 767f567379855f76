from survey import share, tally


def test_blank():
    assert tally(["  ", "A", "a"]) == {"a": 2}


def test_share():
    assert share(["YES", "yes", "no", " "], "yes") == 67
