from pairs_file import read, write


def test_read():
    assert read("a = 1 # one\n\nb=x=y") == {"a": "1", "b": "x=y"}


def test_write():
    assert write({"b": 2, "a": 1}) == "a = 1\nb = 2"
