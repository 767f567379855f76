from labels import status


def test_some():
    assert status(1, 3) == "1 task done, 2 tasks left"


def test_none():
    assert status(0, 0) == "nothing to do"
