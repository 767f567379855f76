def is_palindrome(text):
    """Whether it reads the same backwards; case and other signs do not count."""
    letters = [c.lower() for c in text if c.isalpha()]
    return letters == letters[::-1]
