from phone import normal


def test_more():
    assert normal("00491") == "+491"
    assert normal("7", "1") == "+17"
