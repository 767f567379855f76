from collatz import steps


def test_held():
    assert [steps(n) for n in (3, 9, 27)] == [7, 19, 111]
