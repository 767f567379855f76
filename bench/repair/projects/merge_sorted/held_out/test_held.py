from merge import merge


def test_more():
    assert merge([], [1, 2]) == [1, 2]
    assert merge([4, 8], [1, 5, 9, 10]) == [1, 4, 5, 8, 9, 10]
