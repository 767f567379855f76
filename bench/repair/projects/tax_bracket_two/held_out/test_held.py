from income import net, tax


def test_edges():
    assert tax(10000) == 0
    assert tax(30000) == 4000
    assert net(20000) == 18000
