from logparse import levels, parse


def test_parse():
    assert parse("2024-01-02 INFO: hello") == {"date": "2024-01-02", "level": "INFO", "message": "hello"}


def test_garbage():
    assert parse("nothing") is None


def test_levels():
    assert levels(["2024-01-02 INFO: a", "?", "2024-01-02 WARN: b", "2024-01-03 INFO: c"]) == {"INFO": 2, "WARN": 1}
