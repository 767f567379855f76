from labels import status


def test_more():
    assert status(2, 3) == "2 tasks done, 1 task left"
    assert status(3, 3) == "all done"
