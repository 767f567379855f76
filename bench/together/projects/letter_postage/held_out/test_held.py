from postage import postage


def test_more():
    assert [postage(g) for g in (1, 19, 35, 200, 999)] == [85, 85, 100, 160, 270]
