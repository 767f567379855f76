from shipping.cost import cost


def test_heavy():
    assert cost("DE", 4) == 600
    assert cost("BR", 3) == 3000
