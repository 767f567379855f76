from caesar_runs import runs


def test_held():
    assert runs("zzzyyx") == [("z", 3), ("y", 2), ("x", 1)]
    assert runs("aba") == [("a", 1), ("b", 1), ("a", 1)]
