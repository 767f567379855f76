from runs import decode, encode


def test_runs():
    assert encode("aaab") == [("a", 3), ("b", 1)]


def test_back():
    assert decode(encode("xyyz")) == "xyyz"


def test_again():
    assert encode("aba") == [("a", 1), ("b", 1), ("a", 1)]
