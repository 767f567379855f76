from acl.check import missing
from acl.roles import Role


def test_deep():
    top = Role("a", ["r"])
    assert missing(Role("c", [], Role("b", ["w"], top)), ["r", "w", "d"]) == ["d"]
