from menu import depth


def test_three():
    assert depth({"title": "a", "items": [{"title": "b", "items": [{"title": "c"}]}, {"title": "d"}]}) == 3


def test_empty():
    assert depth({"title": "a", "items": []}) == 1
