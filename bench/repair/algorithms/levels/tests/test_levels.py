from levels import distances


def test_1():
    assert distances({1: [2], 2: [3], 3: []}, 1) == {1: 0, 2: 1, 3: 2}


def test_2():
    assert distances({}, 5) == {5: 0}


def test_3():
    assert distances({1: [2, 3], 2: [4], 3: [4]}, 1) == {1: 0, 2: 1, 3: 1, 4: 2}

