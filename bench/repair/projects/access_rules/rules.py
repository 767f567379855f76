class User:
    def __init__(self, name, admin=False, active=True):
        self.name = name
        self.admin = admin
        self.active = active


class Document:
    def __init__(self, owner, public=False):
        self.owner = owner
        self.public = public


def may_read(user, document):
    if document.public:
        return True
    return user.active and (user.admin or document.owner == user.name)


def may_edit(user, document):
    """Owners and admins may edit, unless their account is closed."""
    if user.admin or document.owner == user.name:
        return True
    return False
