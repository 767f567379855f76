from pages import page_of, pages


def test_many():
    assert pages(list("abcdef"), 2) == [["a", "b"], ["c", "d"], ["e", "f"]]


def test_where():
    assert page_of(["a", "b", "c", "d"], 2, "d") == 2
    assert page_of(["a"], 2, "d") is None
