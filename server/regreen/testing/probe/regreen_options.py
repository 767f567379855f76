"""Options and plugins of a project that would keep a test from being run, or run it in a way that tells nothing.

Standard library only, Python 3.8 and later, pytest 6 and later. The worker of the repair search uses the functions too.
"""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Generator, List, Sequence

import pytest

_RUN_AGAIN = {
    "rerunfailures": "flaky(...): of pytest-rerunfailures",
    "pytest-retry": "flaky(...): of pytest-retry",
    "flaky": "flaky(...): of flaky",
}
"""Plugins that run a failing test again, by the names they are registered under, with the mark each makes known."""
_ASKING = frozenset(("-h", "--help", "-V", "--version"))
"""Options that have pytest tell about itself, instead of running tests."""


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


def ask_nothing(early_config: Any, args: List[str]) -> None:
    """Have pytest go on to its tests, whatever it was asked about itself: for `pytest_load_initial_conftests`."""
    args[:] = without_questions(args)
    early_config.known_args_namespace.help = early_config.known_args_namespace.version = False


def run_once(config: Any) -> None:
    """Take out plugins that run a failing test again: a pass on the second run would hide that it is flaky."""
    manager = config.pluginmanager
    for name, mark in _RUN_AGAIN.items():
        plugin = manager.get_plugin(name)
        if plugin is not None:
            manager.unregister(plugin)
            config.addinivalue_line("markers", mark)


def never_ignored(files: Sequence[str]) -> Any:
    """The hook `pytest_ignore_collect` for which `--ignore` and the like do not hide these files, by their real paths.
    pytest 7 renamed its argument, by which it is told what to hand over."""

    def named(path: Any) -> Any:
        real = os.path.join(os.path.realpath(str(path)), "")
        return False if any(os.path.join(file, "").startswith(real) for file in files) else None

    def before_7(path: Any) -> Any:
        return named(path)

    def since_7(collection_path: Any) -> Any:
        return named(collection_path)

    major = int(pytest.__version__.split(".")[0])
    return pytest.hookimpl(tryfirst=True)(since_7 if major >= 7 else before_7)


class Unhindered:
    """The part of the probe that deals with options. `job` says what to run; see `regreen_pytest.py`."""

    def __init__(self, job: Dict[str, Any]) -> None:
        self._explicit = bool(job.get("explicit"))
        self._collect_only = bool(job.get("collect"))
        if self._explicit:
            files = [item.partition("::")[0] for item in job["args"] if "::" in item]
            self.pytest_ignore_collect = never_ignored([os.path.realpath(file) for file in files])

    def pytest_plugin_registered(self, plugin: Any, manager: Any) -> None:
        if getattr(plugin, "__name__", "") == "pytest_cov.plugin" and not manager.hasplugin("regreen-no-cov"):
            manager.register(_NoCoverage(), "regreen-no-cov")

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any, args: List[str]) -> None:
        ask_nothing(early_config, args)
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
        run_once(config)
        yield
