from count_of import most_common


def test_count():
    assert most_common(["a", "b", "a"]) == ["a"]
