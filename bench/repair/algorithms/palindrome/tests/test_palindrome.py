from palindrome import is_palindrome


def test_1():
    assert is_palindrome("Otto") == True


def test_2():
    assert is_palindrome("a1b2") == False


def test_3():
    assert is_palindrome("1 2 1") == True


def test_4():
    assert is_palindrome("12") == False

