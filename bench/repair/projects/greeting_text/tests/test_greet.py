from greet import farewell, greeting


def test_morning():
    assert greeting("Ann", 8) == "Good morning, Ann!"


def test_bye():
    assert farewell("Bob") == "Bye, Bob!"
