from base import in_base


def test_1():
    assert in_base(6, 2) == "110"


def test_2():
    assert in_base(0, 2) == "0"


def test_3():
    assert in_base(255, 16) == "ff"


def test_4():
    assert in_base(8, 8) == "10"

