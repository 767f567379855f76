from club import Club, Member


def test_both():
    people = [Member("d"), Member("c", paid=False, active=False), Member("a"), Member("b", paid=False)]
    assert Club(people).voters() == ["a", "d"]
    assert Club(people).debtors() == ["c", "b"]
