from rows import best, parse


def test_floats():
    assert parse("x;0.5;7\n") == ("x", [0.5, 7.0])
    assert best(["z;9;11;2"]) == {"z": 11.0}
