"""A pytest plugin: the test that was picked is collected, whatever the project's options leave out or ask for."""

from __future__ import annotations

import os
import re
from typing import Any, Generator, List

import pytest

OFF = (
    "usepdb", "trace", "looponfail", "lf", "failedfirst", "newfirst", "stepwise", "setuponly", "setupplan", "collectonly",
    "cacheclear", "cacheshow", "help", "version", "showfixtures", "show_fixtures_per_test", "markers",
)  # fmt: skip
"""Options that choose among tests, wait for somebody at a keyboard, or have pytest tell about itself."""
RUN_AGAIN = ("rerunfailures", "pytest-retry", "flaky")
"""Plugins that run failing tests again, by the names they are registered under."""


class Named:
    """`target` is the node id of the picked test, class or file, relative to `root`."""

    def __init__(self, target: str, root: str) -> None:
        self.target = target
        self._whole, bracket, _ = target.partition("[")
        self._id = escaped(target) if bracket else ""
        self._file = os.path.realpath(os.path.join(root, target.partition("::")[0]))
        self.pytest_ignore_collect = pytest.hookimpl(tryfirst=True)(self._hook())

    def _opened(self, path: Any) -> Any:
        """False for the picked file and the folders above it: `--ignore` and the like do not hide them."""
        real = os.path.join(os.path.realpath(str(path)), "")
        return False if os.path.join(self._file, "").startswith(real) else None

    def _hook(self) -> Any:
        """pytest 7 renamed the hook's argument, by which it is told what to hand over."""

        def before_7(path: Any) -> Any:
            return self._opened(path)

        def since_7(collection_path: Any) -> Any:
            return self._opened(collection_path)

        return since_7 if int(pytest.__version__.split(".")[0]) >= 7 else before_7

    def covers(self, nodeid: str) -> bool:
        """Whether a collected item is the picked test or a part of it."""
        if self._id:
            return escaped(nodeid) == self._id
        return nodeid == self._whole or nodeid.startswith((self._whole + "::", self._whole + "["))

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any, args: List[str]) -> None:
        """Take out `--help` and `--version`, which end pytest while it still reads its arguments."""
        kept = [a for a in args if a not in ("-h", "--help", "-V", "--version")]
        args[:] = [re.sub("[hV]", "", a) if re.fullmatch("-[hlqsvxV]{2,}", a) else a for a in kept]
        args[:] = [argument for argument in args if argument != "-"]
        early_config.known_args_namespace.help = early_config.known_args_namespace.version = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: Any) -> None:
        """Undo such options, and take out plugins that run failing tests again.

        Nothing runs again here, and where xdist is there too rerunfailures starts a thread, beside which this process
        could not be forked.
        """
        for name in OFF:
            if getattr(config.option, name, None):
                setattr(config.option, name, False)
        for name in RUN_AGAIN:
            plugin = config.pluginmanager.get_plugin(name)
            if plugin is not None:
                config.pluginmanager.unregister(plugin)
                config.addinivalue_line("markers", "flaky(...): of " + name)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: List[Any]) -> Generator[None, Any, None]:
        """What is deselected by `-m`, `-k`, `--deselect` or a conftest.py comes back, if it is what was picked."""
        mine = [item for item in items if self.covers(item.nodeid)]
        yield
        left = {item.nodeid for item in items}
        items[:0] = [item for item in mine if item.nodeid not in left]


def escaped(text: str) -> str:
    """An id as pytest writes it, unless it is told to leave ids as they are."""
    return "".join(
        c if c.isprintable() and ord(c) < 128 else c.encode("unicode_escape").decode() for c in text
    )
