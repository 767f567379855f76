import pytest

from shop.discounts import best_offer, discount_for


@pytest.mark.parametrize(
    ("subtotal", "percent"),
    [(0, 0), (199, 0), (201, 5), (399, 5), (401, 10), (999, 10), (5000, 15)],
)
def test_offers_between_the_thresholds(subtotal, percent):
    assert best_offer(subtotal) == percent


def test_the_discount_is_rounded_down():
    assert discount_for(219) == 10
