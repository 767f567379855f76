from shipping.cost import cost, quote
from shipping.zones import zone


def test_light():
    assert cost("DE", 1) == 400
    assert cost("US", 2) == 1900


def test_zone():
    assert zone("FR") == 2


def test_far_and_heavy():
    assert quote("JP", [1]) == 2900
    assert quote("JP", [5]) == 3200
