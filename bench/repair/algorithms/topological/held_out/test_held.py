from topological import order


def test_held():
    needs = {"x": ["y", "z"], "y": ["w"], "z": ["w"], "w": []}
    got = order(needs)
    assert sorted(got) == ["w", "x", "y", "z"]
    assert all(got.index(n) < got.index(k) for k, v in needs.items() for n in v)
