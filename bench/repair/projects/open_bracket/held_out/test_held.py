from score import points


def test_none():
    assert points([]) == []
    assert points([[100]]) == [100]
