from paths import normalise, parent


def test_dots():
    assert normalise("/a/./b/../c") == "/a/c"


def test_case_is_kept():
    assert normalise("/Home/Ann") == "/Home/Ann"


def test_parent():
    assert parent("/a/b") == "/a"
    assert parent("/") == "/"
