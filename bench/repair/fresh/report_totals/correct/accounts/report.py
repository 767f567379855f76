def by_month(entries):
    """Income, cost and balance for each month."""
    months = {}
    for entry in entries:
        month = months.setdefault(entry["month"], {"income": 0, "cost": 0, "balance": 0})
        if entry["amount"] >= 0:
            month["income"] += entry["amount"]
        else:
            month["cost"] -= entry["amount"]
        month["balance"] += entry["amount"]
    return months
