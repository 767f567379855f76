from league import Team, table


def test_all():
    teams = [Team("d", 3, 2, 2), Team("c", 3, 9, 1), Team("b", 5, 0, 9), Team("a", 3, 2, 2)]
    assert table(teams) == ["b", "c", "a", "d"]
