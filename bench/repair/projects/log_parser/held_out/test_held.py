from logparse import levels


def test_none():
    assert levels([]) == {}


def test_garbage_first():
    assert levels(["x", "2024-01-02 INFO: a"]) == {"INFO": 1}
