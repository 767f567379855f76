from accounts.report import by_month


def test_cost():
    entries = [{"month": 1, "amount": 50}, {"month": 1, "amount": -20}]
    assert by_month(entries)[1] == {"income": 50, "cost": 20, "balance": 30}


def test_months():
    assert list(by_month([{"month": 2, "amount": 1}, {"month": 1, "amount": 1}])) == [2, 1]
