from postfix import evaluate


def test_held():
    assert evaluate("1 2 - 3 -".split()) == -4
    assert evaluate("5 1 2 + 4 * + 3 -".split()) == 14
