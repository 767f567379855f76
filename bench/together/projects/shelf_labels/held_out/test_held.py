from labels import label


def test_more():
    assert [label(n) for n in (25, 78, 79, 702, 703)] == ["Y", "BZ", "CA", "ZZ", "AAA"]
