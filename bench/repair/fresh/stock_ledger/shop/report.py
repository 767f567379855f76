def low(ledger, least):
    return sorted(item for item, amount in ledger.stock.items() if amount < least)
