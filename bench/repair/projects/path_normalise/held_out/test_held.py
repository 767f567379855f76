from paths import normalise


def test_more():
    assert normalise("//X//Y/") == "/X/Y"
    assert normalise("../A") == "/A"
