from feed import Post, feed


def test_both():
    posts = [Post("a", 1, True), Post("b", 9), Post("c", 5, True), Post("d", 10)]
    assert feed(posts, 4) == ["c", "a", "d", "b"]
