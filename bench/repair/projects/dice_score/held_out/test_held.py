from dice import score


def test_limit():
    assert score([62]) == 62
    assert score([63]) == 98
    assert score([64]) == 99
    assert score([65]) == 100
