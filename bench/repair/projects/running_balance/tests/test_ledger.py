from ledger import balances, lowest


def test_balances():
    assert balances(100, [20, -50]) == [120, 70]


def test_none():
    assert balances(5, []) == []


def test_lowest():
    assert lowest(10, []) == 10
