"""A small shop: prices, a cart, discounts and receipts. All amounts are whole cents."""
