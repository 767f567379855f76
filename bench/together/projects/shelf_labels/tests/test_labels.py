from labels import label


def test_letters():
    assert [label(n) for n in (1, 2, 26)] == ["A", "B", "Z"]


def test_two_letters():
    assert [label(n) for n in (27, 28, 52, 53)] == ["AA", "AB", "AZ", "BA"]
