from grades import grade


def test_all_limits():
    assert [grade(p) for p in (100, 90, 89, 80, 79, 70, 69, 60, 59, 0)] == list("AABBCCDDFF")
