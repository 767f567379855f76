from pairs_file import read


def test_comments():
    assert read("# a = 2\nc =") == {"c": ""}
