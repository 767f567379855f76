from postage import postage


def test_light():
    assert postage(20) == 85


def test_steps():
    assert [postage(g) for g in (21, 50, 51, 500, 501)] == [100, 100, 160, 160, 270]
