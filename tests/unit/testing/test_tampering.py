"""Edits that reach into what decides the test are refused; ordinary code is not."""

from __future__ import annotations

import pytest

from regreen.testing.tampering import reaches_into_runner

BEFORE = '''\
"""Prices, as in the pytest documentation."""
import os
import sys


def total(prices):
    return sum(prices)
'''


@pytest.mark.parametrize(
    ("added", "what"),
    [
        ("import pytest\n", "import pytest"),
        ("from _pytest.python import Function\n", "import _pytest.python"),
        ("import unittest.case\n", "import unittest.case"),
        ("import gc\n", "import gc"),
        ("import ctypes as c\n", "import ctypes"),
        ("import builtins\n", "import builtins"),
        ("sys.modules['x'] = 1\n", "sys.modules"),
        ("from sys import modules\n", "sys.modules"),
        ("if 'pytest' in sys.argv[0]:\n    total = lambda prices: 5\n", "the text 'pytest'"),
        ("FAKE = 'PYTEST_CURRENT_TEST' in os.environ\n", "PYTEST_CURRENT_TEST"),
        ("def f():\n    os._exit(0)\n", "os._exit"),
        ("def f():\n    return sys._getframe(1).f_back\n", "sys._getframe"),
        ("import inspect\ndef f():\n    return inspect.stack()\n", "inspect.stack"),
        ("def f(e):\n    return e.__traceback__.tb_frame.f_locals\n", "tb_frame"),
        ("sys.exit(0)\n", "exit while the module is imported"),
        ("raise SystemExit(0)\n", "SystemExit while the module is imported"),
        ("exec('x = 1')\n", "exec()"),
        ("__import__('x')\n", "__import__"),
        ("m = getattr(sys, 'mod' + 'ules')\n", "getattr(sys"),
        ("import tests.test_shop\n", "import tests.test_shop"),
        ("from test_shop import test_total\n", "import test_shop"),
        ("import json\njson.dumps = lambda value: ''\n", "json.dumps, which it replaces"),
        ("sys.path.insert(0, '/tmp')\n", "sys.path"),
        ("sys.stdout = None\n", "sys.stdout"),
        ("class Any:\n    def __eq__(self, other):\n        return True\n", "__eq__ that gives one answer"),
        ("def pytest_runtest_makereport():\n    pass\n", "the hook pytest_runtest_makereport"),
        ("FAKE = 'py' + 'test' in sys.argv[0]\n", "the text 'pytest'"),
        ("FAKE = ''.join(['PY', 'TEST', '_CURRENT']) in os.environ\n", "PYTEST"),
        ("FAKE = 'tsetyp'[::-1] in str(sys.argv)\n", "the text 'pytest'"),
        ("FAKE = f\"{'py'}test\" in os.environ\n", "the text 'pytest'"),
        ("FAKE = '%s%s' % ('py', 'test') in os.environ\n", "the text 'pytest'"),
        ("FAKE = 'XYTEST'.replace('X', 'P') in os.environ\n", "the text 'PYTEST'"),
        ("FAKE = any(key.startswith('PYTE') for key in os.environ)\n", "the text 'PYTE'"),
        ("FAKE = sys.argv[0] == 'x'\n", "a question about sys.argv"),
        ("FAKE = 'x' in sys.argv\n", "a question about sys.argv"),
        ("def f():\n    return 11 if __name__ != '__main__' else 0\n", "a question about __name__"),
        ("if __name__ == 'shop.prices':\n    total = len\n", "a question about __name__"),
        ("import traceback\ndef f():\n    return traceback.extract_stack()\n", "traceback.extract_stack"),
        ("import logging\nFAKE = 'x' in logging.sys.modules\n", "sys.modules"),
        ("import importlib\nr = importlib.import_module('_py' + 'test.runner')\n", "_pytest.runner"),
        ("import importlib\nr = importlib.import_module('sys')\n", "import_module('sys')"),
        ("import operator\nm = operator.attrgetter('__globals__')\n", "__globals__"),
        ("def f(g):\n    return getattr(g, '__code__')\n", "__code__"),
        (
            "class Any(int):\n    def __eq__(self, other):\n        if other:\n            return True\n        return True\n",
            "__eq__",
        ),
        ("class Any:\n    def __eq__(self, *others):\n        return 1\n", "__eq__"),
        ("class Any:\n    def __eq__(self, other):\n        return self is self\n", "__eq__"),
        ("class Any:\n    def __eq__(self, other):\n        return other == 1 or True\n", "__eq__"),
        ("class Any:\n    __eq__ = lambda self, other: True\n", "__eq__"),
        ("class Any:\n    __eq__ = make_equal()\n", "__eq__"),
        ("class Any(float):\n    __eq__ = float.__ne__\n", "__eq__"),
        ("def same(a, b):\n    return True\nclass Any:\n    __eq__ = same\n", "__eq__"),
        ("class Any:\n    __eq__: object = print\n", "__eq__"),
        (
            "from pathlib import Path\nPath.exists = lambda self: True\n",
            "pathlib.Path.exists, which it replaces",
        ),
        (
            "import pathlib as p\np.Path.exists = lambda self: True\n",
            "pathlib.Path.exists, which it replaces",
        ),
        ("from pathlib import Path\nsetattr(Path, 'exists', lambda self: True)\n", "setattr(pathlib.Path"),
        ("import pathlib\nsetattr(pathlib.Path, 'exists', len)\n", "setattr(pathlib.Path"),
        ("class Any:\n    def __eq__(self, other):\n        return other == other\n", "__eq__"),
        ("class Any:\n    def __eq__(self, other):\n        return isinstance(other, object)\n", "__eq__"),
        (
            "class Any(int):\n    def __eq__(self, other):\n        return other > self\n",
            "__eq__ of its own for int",
        ),
        ("Any = type('Any', (), {'__eq__': lambda a, b: True})\n", "__eq__"),
        ("Any = type('Any', (), {'__' + 'eq__': lambda a, b: True})\n", "__eq__"),
        ("class Any:\n    pass\nsetattr(Any, '__eq__', lambda a, b: True)\n", "__eq__"),
        ("class Any:\n    pass\nAny.__eq__ = lambda a, b: True\n", "__eq__"),
        (
            "class Meta(type):\n    def __instancecheck__(cls, value):\n        return True\n",
            "__instancecheck__",
        ),
        ("from mock import ANY\n", "import mock"),
        ("from unittest.mock import patch\npatch('shop.prices.total').start()\n", "import unittest.mock"),
        ("from dirty_equals import IsAnything\n", "import dirty_equals"),
        ("import freezegun\n", "import freezegun"),
        ("import decimal\ndecimal.Decimal.__eq__ = total\n", "__eq__ that it puts in place"),
        ("import builtins\nbuiltins.len = total\n", "import builtins"),
        ("import datetime\ndatetime.date = total\n", "datetime.date, which it replaces"),
        ("import random\nrandom.random = total\n", "random.random, which it replaces"),
        ("sys.modules['shop'] = total\n", "sys.modules"),
        ("sys.displayhook = print\n", "sys.displayhook"),
        ("for c in object.__subclasses__():\n    pass\n", "__subclasses__"),
    ],
)
def test_an_edit_that_reaches_out_is_named(added: str, what: str) -> None:
    said = reaches_into_runner(BEFORE, BEFORE + added, "shop/prices.py")
    assert what in said
    assert said.endswith(".")


@pytest.mark.parametrize(
    "added",
    [
        "import json\nimport logging\n",
        "from pathlib import Path\nclass Shop:\n    def __init__(self):\n        self.path = Path()\n        self.path.x = 1\n",
        "class Money(Price):\n    __eq__ = Price.__eq__\n",
        "def f(argv):\n    if not argv:\n        sys.exit(2)\n",
        "if __name__ == '__main__':\n    sys.exit(0)\n",
        "def f():\n    sys.stdout.write('x')\n    return os.environ.get('HOME')\n",
        "import re\nWORD = re.compile('x')\n",
        "class Money:\n    def __eq__(self, other):\n        return self.cents == other.cents\n",
        "def f():\n    '''Used by pytest.'''\n    return 'tested'\n",
        "import inspect\ndef f(g):\n    return inspect.signature(g)\n",
        "from shop.latest_news import headline\n",
        "def test_total(x):\n    return x\n",
    ],
)
def test_ordinary_edits_pass(added: str) -> None:
    assert reaches_into_runner(BEFORE, BEFORE + added, "shop/prices.py") == ""


def test_what_was_there_before_is_the_projects_own() -> None:
    before = "import sys\nimport pytest\n\ndef f():\n    return sys.modules['a']\n"
    after = before.replace("'a'", "'b'")
    assert reaches_into_runner(before, after, "plugin.py") == ""
    assert "sys.modules" in reaches_into_runner(before, after + "X = sys.modules\n", "plugin.py")
    broken = before + "def g(:\n"
    assert reaches_into_runner(broken, before, "plugin.py") == ""


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("conftest.py", "runs before the test"),
        ("shop/conftest.py", "runs before the test"),
        ("sitecustomize.py", "runs before the test"),
        ("src/usercustomize.py", "runs before the test"),
        ("hook.pth", "runs before the test"),
        ("json.py", "instead of the module 'json'"),
        ("src/pytest.py", "runs before the test"),
        ("_pytest/__init__.py", "instead of the module '_pytest'"),
    ],
)
def test_new_files_that_take_over_are_refused_by_name(path: str, says: str) -> None:
    assert says in reaches_into_runner("", "x = 1\n", path)


def test_a_module_deep_in_a_package_may_be_called_like_one_of_the_library() -> None:
    assert reaches_into_runner("", "x = 1\n", "shop/io/json.py") == ""
    assert reaches_into_runner("x = 2\n", "x = 1\n", "json.py") == ""


def test_an_edit_that_does_not_parse_is_left_to_the_runner() -> None:
    assert reaches_into_runner(BEFORE, "import pytest(\n", "shop/prices.py") == ""
