"""Options and plugins of a project that would keep a test from being run, or run it in a way that tells nothing.

Standard library only, Python 3.8 and later, pytest 6 and later.
"""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Generator, List

import pytest

_RUN_AGAIN = {
    "rerunfailures": "flaky(...): of pytest-rerunfailures",
    "pytest-retry": "flaky(...): of pytest-retry",
    "flaky": "flaky(...): of flaky",
}
"""Plugins that run a failing test again, by the names they are registered under, with the mark each makes known."""
_ASKING = frozenset(("-h", "--help", "-V", "--version"))
"""Options that have pytest tell about itself, instead of running tests."""
_PATH = "collection_path" if int(pytest.__version__.split(".")[0]) >= 7 else "path"


class _NoCoverage:
    """Switches pytest-cov off before it starts measuring. Registered after it, so that it is asked first."""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any, args: List[str]) -> Generator[None, Any, None]:
        known = early_config.known_args_namespace
        if hasattr(known, "cov_source"):
            known.cov_source = None
            args.append("--no-cov")
        yield


def without_questions(args: List[str]) -> List[str]:
    """Arguments without those that ask pytest about itself, alone (`--help`) or among other letters (`-qh`)."""
    kept: List[str] = []
    for argument in args:
        if argument in _ASKING:
            continue
        if re.fullmatch(r"-[hlqsvxV]{2,}", argument):
            argument = re.sub("[hV]", "", argument)
        if argument != "-":
            kept.append(argument)
    return kept


class Unhindered:
    """The part of the probe that deals with options. `job` says what to run; see `regreen_pytest.py`."""

    def __init__(self, job: Dict[str, Any]) -> None:
        self._explicit = bool(job.get("explicit"))
        self._collect_only = bool(job.get("collect"))
        self._wanted: List[str] = []
        if self._explicit:
            files = [item.partition("::")[0] for item in job["args"] if "::" in item]
            self._wanted = [os.path.realpath(file) for file in files]
            self.pytest_ignore_collect = self._not_ignored()

    def pytest_plugin_registered(self, plugin: Any, manager: Any) -> None:
        if getattr(plugin, "__name__", "") == "pytest_cov.plugin" and not manager.hasplugin("regreen-no-cov"):
            manager.register(_NoCoverage(), "regreen-no-cov")

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any, args: List[str]) -> None:
        args[:] = without_questions(args)
        early_config.known_args_namespace.help = early_config.known_args_namespace.version = False
        has = early_config.pluginmanager.hasplugin
        if has("xdist"):
            args += ["-n0"]
        if has("randomly") or has("pytest_randomly"):
            args += ["--randomly-dont-reorganize", "--randomly-seed=20"]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config: Any) -> Generator[None, Any, None]:
        settings: Dict[str, Any] = {
            "usepdb": False, "trace": False, "looponfail": False, "maxfail": 0, "verbose": 0, "tbstyle": "auto",
            "showlocals": False, "fulltrace": False, "stepwise": False, "lf": False, "failedfirst": False,
            "newfirst": False, "setuponly": False, "setupplan": False, "xmlpath": None, "htmlpath": None,
            "pastebin": None, "reruns": 0, "random_order_bucket": "none", "benchmark_disable": True,
            "numprocesses": 0, "tx": [], "dist": "no", "forked": False, "collectonly": self._collect_only,
            "help": False, "version": 0, "showfixtures": False, "show_fixtures_per_test": False, "markers": False,
            "cacheshow": None,
        }  # fmt: skip
        if self._explicit:
            settings.update(keyword="", markexpr="", deselect=None)
        for name, value in settings.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)
        self._run_once(config)
        yield

    @staticmethod
    def _run_once(config: Any) -> None:
        """Take out plugins that run a failing test again: a pass on the second run would hide that it is flaky."""
        manager = config.pluginmanager
        for name, mark in _RUN_AGAIN.items():
            plugin = manager.get_plugin(name)
            if plugin is not None:
                manager.unregister(plugin)
                config.addinivalue_line("markers", mark)

    def _not_ignored(self) -> Any:
        """The hook that keeps `--ignore` and the like from hiding a file that is named. pytest 7 renamed its argument."""

        def named(path: Any) -> Any:
            real = os.path.realpath(str(path))
            return False if any((w + os.sep).startswith(real + os.sep) for w in self._wanted) else None

        if _PATH == "path":

            def ignore_before_7(path: Any) -> Any:
                return named(path)

            return pytest.hookimpl(tryfirst=True)(ignore_before_7)

        def ignore(collection_path: Any) -> Any:
            return named(collection_path)

        return pytest.hookimpl(tryfirst=True)(ignore)
