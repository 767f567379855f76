from worktime import paid, week


def test_edge():
    assert paid(360) == 360
    assert paid(361) == 331


def test_week():
    assert week([400, 360, 100]) == 370 + 360 + 100
