from merge import merge


def test_left_longer():
    assert merge([1, 5, 9], [2]) == [1, 2, 5, 9]


def test_right_longer():
    assert merge([1], [2, 3]) == [1, 2, 3]


def test_empty():
    assert merge([], []) == []
    assert merge([1], []) == [1]
