from accounts.report import by_month


def test_only_cost():
    assert by_month([{"month": 3, "amount": -5}]) == {3: {"income": 0, "cost": 5, "balance": -5}}
