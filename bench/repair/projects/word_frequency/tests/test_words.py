from words import frequencies, longest, vocabulary


def test_vocabulary_is_ordered():
    assert vocabulary("the cat saw the dog and the owl by a lake") == [
        "a", "and", "by", "cat", "dog", "lake", "owl", "saw", "the",
    ]


def test_frequencies():
    assert frequencies("a b A") == {"a": 2, "b": 1}


def test_longest():
    assert longest("one three two") == "three"
