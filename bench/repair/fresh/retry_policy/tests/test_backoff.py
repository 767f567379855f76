from net.backoff import delays, describe, total_wait


def test_delays_are_capped():
    assert delays(4, cap=3) == [1.0, 2.0, 3, 3]


def test_total_is_capped():
    assert total_wait(4, cap=3) == 9.0


def test_plain_total():
    assert total_wait(3) == 7.0
