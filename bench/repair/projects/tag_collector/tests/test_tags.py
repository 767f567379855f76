from tags import collect


def test_one():
    assert collect("a #b c") == ["b"]


def test_again():
    collect("#x")
    assert collect("#y") == ["y"]


def test_given():
    mine = ["a"]
    collect("#b", mine)
    assert mine == ["a", "b"]
