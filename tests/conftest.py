"""What every test shares: a state of its own for Regreen, and the list of what was left out."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the state and cache of the person who runs the tests."""
    home = tmp_path_factory.mktemp("regreen-home")
    monkeypatch.setenv("REGREEN_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("REGREEN_CACHE_DIR", str(home / "cache"))


@pytest.fixture
def toy_shop(tmp_path: Path) -> Path:
    """A copy of toy_repo in a folder of its own."""
    copy = tmp_path / "toy_shop"
    shutil.copytree(PROJECT / "toy_repo", copy, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    return copy


def pytest_configure() -> None:
    """Ctrl-C means something to the programs under test, also when this run was started in the background.

    What a shell puts there ignores it, and every program started from it does as well.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser's driver keeps an event loop in the main thread, so what needs a loop of its own comes first."""
    items.sort(key=lambda item: "e2e" in item.path.parts)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end what was left out, and why."""
    listed = os.environ.get("REGREEN_LEFT_OUT_FILE")
    lines = Path(listed).read_text(encoding="utf-8").splitlines() if listed and Path(listed).is_file() else []
    for report in terminalreporter.stats.get("skipped", []):
        lines.append(f"{report.nodeid}: {report.longrepr[2] if isinstance(report.longrepr, tuple) else ''}")
    if lines:
        terminalreporter.section("left out")
        for line in lines:
            terminalreporter.line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where nothing may be left out, a skipped test is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if skipped and os.environ.get("REGREEN_LEAVE_OUT") == "fail" and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
