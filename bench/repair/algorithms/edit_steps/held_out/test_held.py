from edit_steps import steps


def test_held():
    assert steps("flaw", "lawn") == 2
    assert steps("a", "") == 1
    assert steps("abcd", "xbc") == 2
