from words import groups


def test_more():
    assert groups(["x", "X", "", "xx"]) == {"x": ["x", "X", "xx"]}
