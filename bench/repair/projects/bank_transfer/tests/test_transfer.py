import pytest

from bank.accounts import Account, InsufficientFunds, transfer


def test_money_moves():
    a, b = Account("a", 100), Account("b", 5)
    transfer(a, b, 30)
    assert (a.balance, b.balance) == (70, 35)


def test_too_much():
    a, b = Account("a", 10), Account("b")
    with pytest.raises(InsufficientFunds):
        transfer(a, b, 11)
    assert b.balance == 0
