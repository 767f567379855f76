from shop.cart import Cart
from shop.receipts import receipt


def test_a_receipt_shows_discount_and_tax_by_rate():
    cart = Cart()
    cart.add("cheese", 2)
    cart.add("soap")
    assert receipt(cart).split("\n") == [
        "2 x cheese              9.60",
        "1 x soap                1.99",
        "discount 15 %          -1.73",
        "total                   9.86",
        "tax 7 %                 0.53",
        "tax 19 %                0.27",
    ]
