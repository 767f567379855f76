from agenda import Meeting, clashes


def test_order():
    assert clashes([Meeting(10, 11, "a"), Meeting(9, 10, "a")]) == []


def test_inside():
    assert len(clashes([Meeting(9, 12, "a"), Meeting(10, 11, "a"), Meeting(9, 12, "a")])) == 3
