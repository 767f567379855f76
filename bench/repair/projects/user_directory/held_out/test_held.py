from directory import Directory


def test_upper():
    d = Directory()
    d.add("ABC@D", 1)
    assert d.find("ABC@D") == 1
    assert d.find("Abc@d") == 1
    assert d.find("abx@d") is None
