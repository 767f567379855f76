from parcel.price import price
from parcel.size import Parcel


def test_tall():
    assert price(Parcel(100, 5, 96, 2)) == 4.5 + 15


def test_edges():
    assert price(Parcel(10, 10, 10, 10)) == 9.0
    assert price(Parcel(10, 10, 10, 10.5)) == 16.5
