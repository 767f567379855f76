from phones import normal


def test_plain():
    assert normal("+4930123") == "+4930123"


def test_spaces_and_zero():
    assert normal("030 / 12-34") == "+49301234"


def test_two_zeros():
    assert normal("0043 1 22") == "+43122"
