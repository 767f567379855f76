from names_of import by_extension, extension


def test_hidden():
    assert extension("home/.profile") == ""


def test_group():
    assert by_extension(["a/x.py", "b/c/y.py", "z"]) == {"py": ["a/x.py", "b/c/y.py"], "": ["z"]}
