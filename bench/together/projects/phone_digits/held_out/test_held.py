from phones import normal


def test_more():
    assert normal("(089) 55 66") == "+49895566"
    assert normal("+1 (212) 5") == "+12125"
    assert normal("00 33 4") == "+334"
