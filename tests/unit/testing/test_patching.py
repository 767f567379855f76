"""Code of others that an edit replaces is a doubt; settings of libraries and of the project are not."""

from __future__ import annotations

import pytest

from regreen.testing.doubts import decides_itself

BEFORE = "import numpy as np\nimport config\n\n\ndef total(prices):\n    return sum(prices)\n"


def own(module: str) -> bool:
    return module in ("config", "shop")


@pytest.mark.parametrize(
    "added",
    [
        "np.allclose = lambda *values: True\n",
        "np.random.rand = total\n",
        "np.ndarray.__eq__ = total\n",
        "setattr(np, 'allclose', total)\n",
        "setattr(np.ndarray, 'all', total)\n",
        "from requests import Session\nSession.get = total\n",
        "from requests import Session as S\nT = S\nT.get = total\n",
        "import requests.sessions\nrequests.sessions.Session.get = total\n",
        "import requests\nr = requests\nr.get = total\n",
        "import importlib\nr = importlib.import_module('requests')\nr.get = total\n",
        "import requests\nfor module in (requests, np):\n    module.get = total\n",
        "import requests\nvars(requests)['get'] = total\n",
        "import requests\nrequests.__dict__.update(get=total)\n",
        "import requests\ndel requests.get\n",
        "import config\nconfig.rate = lambda: 11\n",
        "import config\nconfig.total = total\n",
        "from shop.models import Money\nMoney.cents = 11\n",
        "from .models import Money\nMoney.total = total\n",
        "import shop.models\nshop.models.Money.total = total\n",
        "def f(one):\n    type(one).total = total\n",
        "def f(one):\n    one.__class__.total = total\n",
        "def f(one):\n    type.__setattr__(np.ndarray, 'all', total)\n",
        "import random\nrandom.seed(4)\n",
        "np.random.seed(4)\n",
        "from random import seed\nseed(11)\n",
        "import random\nrandom.random = lambda: 0.5\n",
        "import datetime\nd = datetime\nd.date = total\n",
        "import decimal\nD = decimal.Decimal\nD.quantize = total\n",
        "from decimal import Decimal\nfor kind in (Decimal,):\n    kind.sqrt = total\n",
    ],
)
def test_what_others_use_too_is_not_replaced_without_a_doubt(added: str) -> None:
    said = decides_itself(BEFORE, BEFORE + added, own)
    assert said.startswith("line ")
    assert decides_itself(BEFORE + added, BEFORE + added + "X = 1\n", own) == ""


@pytest.mark.parametrize(
    "added",
    [
        "config.DEBUG = True\n",
        "config.RATES['food'] = 0.07\n",
        "config.connection = connect()\n",
        "import stripe\nstripe.api_key = 'key'\n",
        "from flask import g\ndef f(user):\n    g.user = user\n",
        "from .settings import options\noptions.level = 2\n",
        "class Shop:\n    def __init__(self):\n        self.total = total\n",
        "class Shop:\n    pass\nShop.total = total\n",
        "class Shop:\n    def set(self, name, value):\n        setattr(self, name, value)\n",
        "class Point:\n    def __init__(self, x):\n        object.__setattr__(self, 'x', x)\n",
        "import random\nGENERATOR = random.Random(4)\n",
        "from collections import Counter\ndef f(items):\n    counts = Counter(items)\n    counts.total = 2\n",
        "def f(values):\n    values.update(a=1)\n    del values.b\n",
    ],
)
def test_settings_and_objects_of_ones_own_are_no_doubt(added: str) -> None:
    assert decides_itself(BEFORE, BEFORE + added, own) == ""
