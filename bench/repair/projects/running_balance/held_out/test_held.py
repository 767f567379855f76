from ledger import balances, lowest


def test_more():
    assert balances(0, [1, 2, 3]) == [1, 3, 6]
    assert lowest(10, [-15, 20]) == -5
