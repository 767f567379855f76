from cipher import encode


def test_all():
    assert encode("abcdefghijklmnopqrstuvwxyz", 13) == "nopqrstuvwxyzabcdefghijklm"
    assert encode("a", 27) == "b"
