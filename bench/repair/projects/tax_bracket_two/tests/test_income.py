from income import net, tax


def test_free():
    assert tax(0) == 0


def test_middle():
    assert tax(20000) == 2000


def test_high():
    assert tax(40000) == 8000


def test_net():
    assert net(9000) == 9000
