from rules import Document, User, may_edit, may_read


def test_owner():
    assert may_edit(User("ann"), Document("ann"))


def test_stranger():
    assert not may_edit(User("bob"), Document("ann"))


def test_admin():
    assert may_edit(User("root", admin=True), Document("ann"))


def test_closed_account():
    assert not may_edit(User("ann", active=False), Document("ann"))


def test_read_public():
    assert may_read(User("bob"), Document("ann", public=True))
