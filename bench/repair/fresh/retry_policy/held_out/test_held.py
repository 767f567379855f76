from net.backoff import describe, total_wait


def test_words():
    assert describe(5, 2) == "5 tries in 9 s"


def test_other():
    assert total_wait(2, cap=1) == 2
    assert total_wait(6, cap=10) == 35
