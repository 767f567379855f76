from phone import normal, same


def test_double_zero():
    assert normal("0043 1 234") == "+431234"


def test_plus():
    assert normal("+44 20") == "+4420"


def test_same():
    assert same("030/12", "+493012")
