from rules import Document, User, may_edit


def test_closed_admin():
    assert not may_edit(User("root", admin=True, active=False), Document("ann"))


def test_public_is_not_editable():
    assert not may_edit(User("bob"), Document("ann", public=True))
