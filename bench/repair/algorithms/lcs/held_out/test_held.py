from lcs import common_length


def test_held():
    assert common_length("xmjyauz", "mzjawxu") == 4
    assert common_length("aaaa", "aa") == 2
    assert common_length("abcd", "dcba") == 1
