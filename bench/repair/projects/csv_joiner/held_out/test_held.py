from joiner import document, row


def test_more():
    assert row(["a,b", "c", 3]) == '"a,b",c,3'
    assert document([[1, 2], [3, 4]]) == "1,2\n3,4\n"
