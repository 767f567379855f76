from count_of import most_common


def test_least():
    assert most_common("aabbbc") == ["b", "a"]
    assert most_common("abc", 1) == ["a", "b", "c"]
