from pages import page_of, pages


def test_two_pages():
    assert pages(["a", "b", "c"], 2) == [["a", "b"], ["c"]]


def test_one_page():
    assert page_of(["x", "y"], 5, "y") == 1
