"""What pytest is told, and a plugin for it: the test that was picked is collected, whatever the project's options leave
out or ask for."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from typing import Any, Generator, List

import pytest
from regreen_options import ask_nothing, never_ignored, run_once

QUIET = (
    "-q", "-s", "-p", "no:faulthandler", "--maxfail=0", "--tb=native", "--no-header",
    "--continue-on-collection-errors", "-p", "no:randomly", "-W", "ignore",
)  # fmt: skip
BESIDE = {"xdist": ["-n0"], "pytest_cov": ["--no-cov"]}
"""What must be said when a plugin is there: tests run in this process, and nothing is measured."""
OFF = (
    "usepdb", "trace", "looponfail", "lf", "failedfirst", "newfirst", "stepwise", "setuponly", "setupplan", "collectonly",
    "cacheclear", "cacheshow", "help", "version", "showfixtures", "show_fixtures_per_test", "markers",
)  # fmt: skip
"""Options that choose among tests, wait for somebody at a keyboard, or have pytest tell about itself."""


def options(root: str) -> List[str]:
    """The arguments that have pytest collect a project quietly; its cache is in a new folder."""
    found = [*QUIET, "--rootdir", root, "-o", "cache_dir=" + tempfile.mkdtemp()]
    for module, extra in BESIDE.items():
        if importlib.util.find_spec(module) is not None:
            found += extra
    return found


class Named:
    """`target` is the node id of the picked test, class or file, relative to `root`."""

    def __init__(self, target: str, root: str) -> None:
        self.target = target
        self._whole, bracket, _ = target.partition("[")
        self._id = escaped(target) if bracket else ""
        file = os.path.realpath(os.path.join(root, target.partition("::")[0]))
        self.pytest_ignore_collect = never_ignored([file])

    def covers(self, nodeid: str) -> bool:
        """Whether a collected item is the picked test or a part of it."""
        if self._id:
            return escaped(nodeid) == self._id
        return nodeid == self._whole or nodeid.startswith((self._whole + "::", self._whole + "["))

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any, args: List[str]) -> None:
        """Take out `--help` and `--version`, which end pytest while it still reads its arguments."""
        ask_nothing(early_config, args)

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config: Any) -> None:
        """Undo such options, and take out plugins that run failing tests again: where xdist is there too, rerunfailures
        starts a thread, beside which this process could not be forked."""
        for name in OFF:
            if getattr(config.option, name, None):
                setattr(config.option, name, False)
        run_once(config)

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
