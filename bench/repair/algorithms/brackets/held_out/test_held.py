from brackets import balanced


def test_held():
    assert balanced("a(b)c") is True
    assert balanced("(()") is False
    assert balanced("[{}][]")
    assert not balanced("}")
