from directory import Directory


def test_found():
    d = Directory()
    d.add("a@x.org", "Ann")
    assert d.find("a@x.org") == "Ann"


def test_case():
    d = Directory()
    d.add("Bob@X.org", "Bob")
    assert d.find("bob@x.ORG") == "Bob"


def test_removed():
    d = Directory()
    d.add("a@x.org", "Ann")
    d.remove("A@X.ORG")
    assert d.find("a@x.org") is None
