from joiner import document, quote, row


def test_row():
    assert row([1, "a"]) == "1,a"


def test_quote():
    assert quote('a"b') == '"a""b"'


def test_document():
    assert document([[1], [2]]) == "1\n2\n"
