from config import Config

C = Config({"db": {"host": "h", "port": 1}})


def test_found():
    assert C.get("db.host") == "h"


def test_default():
    assert C.get("db.user", "me") == "me"


def test_section():
    assert C.get("db") == {"host": "h", "port": 1}
