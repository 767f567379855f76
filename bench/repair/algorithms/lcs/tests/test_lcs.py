from lcs import common_length


def test_1():
    assert common_length("abc", "abc") == 3


def test_2():
    assert common_length("aab", "ab") == 2


def test_3():
    assert common_length("", "a") == 0


def test_4():
    assert common_length("aaa", "a") == 1


def test_5():
    assert common_length("abcbdab", "bdcaba") == 4

