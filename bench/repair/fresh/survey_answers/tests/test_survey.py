from survey import share, tally


def test_same_answer_in_other_letters():
    assert tally(["Yes", "yes ", "no"]) == {"yes": 2, "no": 1}


def test_no_answers():
    assert share([], "yes") == 0
