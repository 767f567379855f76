from parcel.price import price
from parcel.size import Parcel


def test_small():
    assert price(Parcel(30, 20, 10, 1)) == 4.5


def test_flat_and_five_kilos():
    assert price(Parcel(100, 90, 5, 5)) == 6.5


def test_long():
    assert price(Parcel(250, 20, 20, 12)) == 31.5
