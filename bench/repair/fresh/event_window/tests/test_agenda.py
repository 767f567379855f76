from agenda import Meeting, clashes


def test_back_to_back():
    assert clashes([Meeting(9, 10, "a"), Meeting(10, 11, "a")]) == []


def test_clash():
    assert len(clashes([Meeting(9, 11, "a"), Meeting(10, 12, "a")])) == 1


def test_rooms():
    assert clashes([Meeting(9, 11, "a"), Meeting(10, 12, "b")]) == []
