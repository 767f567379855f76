from nested import find


def test_first_of_two():
    tree = ("r", [("x", [("y", [1])]), ("y", [])])
    assert find(("r", [("x", []), ("z", [("z", [])])]), "z") == ("z", [("z", [])])
    assert tree[0] == "r"
