from club import Club, Member


def test_voters_have_paid():
    assert Club([Member("b"), Member("a", paid=False)]).voters() == ["b"]


def test_inactive():
    assert Club([Member("b", active=False)]).voters() == []


def test_quorum():
    assert Club([Member("a"), Member("b"), Member("c")]).quorum() == 2
