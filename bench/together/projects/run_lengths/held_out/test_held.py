from runs import encode


def test_more():
    assert encode("") == []
    assert encode("zzzz") == [("z", 4)]
    assert encode("aabbaa") == [("a", 2), ("b", 2), ("a", 2)]
