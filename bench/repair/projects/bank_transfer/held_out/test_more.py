from bank.accounts import Account, transfer


def test_all_of_it():
    a, b = Account("a", 10), Account("b", 1)
    transfer(a, b, 10)
    assert (a.balance, b.balance) == (0, 11)


def test_there_and_back():
    a, b = Account("a", 10), Account("b", 1)
    transfer(a, b, 4)
    transfer(b, a, 5)
    assert (a.balance, b.balance) == (11, 0)
