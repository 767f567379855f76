from acl.check import missing
from acl.roles import Role


def test_inherited():
    assert missing(Role("b", ["w"], Role("a", ["r"])), ["r", "w"]) == []


def test_not_allowed():
    assert missing(Role("a", ["r"]), ["r", "x"]) == ["x"]
