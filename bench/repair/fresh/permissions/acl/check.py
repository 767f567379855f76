from acl.roles import Role


def missing(role: Role, actions):
    return [action for action in actions if not role.can(action)]
