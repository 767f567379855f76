from invoicing.invoice import Line, total
from invoicing.tax import tax


def test_standard():
    assert Line("pen", 1000).gross() == 1190


def test_reduced():
    assert Line("book", 1000, "reduced").gross() == 1070


def test_total():
    assert total([Line("pen", 100), Line("pencil", 100)]) == 238


def test_tax_rounds():
    assert tax(8, "reduced") == 1
