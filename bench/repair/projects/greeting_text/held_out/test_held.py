from greet import greeting


def test_others():
    assert greeting("B", 12) == "Good afternoon, B!"
    assert greeting("B", 18) == "Good evening, B!"
