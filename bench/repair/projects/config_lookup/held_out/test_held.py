from config import Config


def test_none():
    assert Config({}).get("a.b.c") is None
    assert Config({"a": {}}).get("a.b", 3) == 3
