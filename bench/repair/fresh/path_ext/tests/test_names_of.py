from names_of import by_extension, extension


def test_no_folder():
    assert extension("photo.JPG") == "jpg"


def test_folder():
    assert extension("a.d/notes") == ""


def test_deep():
    assert extension("a/b.c/readme") == ""
