from subsets import subsets


def test_held():
    got = subsets([1, 2, 3])
    assert len(got) == 8
    assert sorted(got) == [[], [1], [1, 2], [1, 2, 3], [1, 3], [2], [2, 3], [3]]
