from palindrome import is_palindrome


def test_held():
    assert is_palindrome("A man, a plan, a canal: Panama")
    assert not is_palindrome("x9x8")
    assert not is_palindrome("ab")
