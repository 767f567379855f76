from words import groups, longest


def test_groups():
    assert groups(["ant", "bee", "Ape"]) == {"a": ["ant", "Ape"], "b": ["bee"]}


def test_longest():
    assert longest(["a", "bbb", "cc"]) == "bbb"
