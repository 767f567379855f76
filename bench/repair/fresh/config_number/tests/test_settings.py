from settings_file import number, size


def test_there():
    assert number({"a": "7"}, "a") == 7


def test_missing():
    assert size({"width": "100"}) == (100, 24)


def test_no_number():
    assert number({"a": "wide"}, "a", 5) == 5
