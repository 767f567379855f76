from shop.cart import Cart


def test_an_empty_cart_costs_nothing():
    assert Cart().total() == 0


def test_different_products_add_up():
    cart = Cart()
    cart.add("apple", 2)
    cart.add("soap")
    assert cart.subtotal() == 299


def test_lines_keep_their_order():
    cart = Cart()
    cart.add("soap")
    cart.add("apple", 3)
    assert cart.lines() == [("soap", 1, 199), ("apple", 3, 150)]


def test_adding_more_of_a_product_reaches_the_offer():
    cart = Cart()
    cart.add("apple", 2)
    cart.add("bread")
    cart.add("apple")
    assert cart.subtotal() == 400
    assert cart.total() == 360
