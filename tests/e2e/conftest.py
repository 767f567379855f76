"""Builds the VSIX, installs VS Code, and opens windows on copies of the toy shop."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from e2e.shop import open_the_test, settings
from e2e.workbench import PROJECT, CodeServer, Workbench, chromium, note_figure
from scripted.fixtures import scripted

__all__ = ["scripted"]

EXTENSION = PROJECT / "vscode-extension"
SIZE = {"width": 1280, "height": 800}

Open = Callable[..., Workbench]


@pytest.fixture(scope="session")
def vsix() -> Path:
    """The extension, built from this checkout."""
    npm = shutil.which("npm")
    assert npm, "npm is missing: install Node.js 20 or newer"
    steps = [] if (EXTENSION / "node_modules").is_dir() else [["ci", "--no-audit", "--no-fund"]]
    for step in [*steps, ["run", "package"]]:
        done = subprocess.run(
            [npm, *step], cwd=EXTENSION, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stdout + done.stderr
    built = EXTENSION / "regreen.vsix"
    note_figure("vsix_bytes", built.stat().st_size)
    assert built.stat().st_size < 1_000_000, "one megabyte is enough: see vscode-extension/scripts/bundle.mjs"
    return built


@pytest.fixture(scope="session")
def explorer_stand_in(vsix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An extension that lists the toy shop's tests in the Test Explorer, as the Python extension does."""
    built = tmp_path_factory.mktemp("stand-in") / "stand-in.vsix"
    command = [EXTENSION / "node_modules" / ".bin" / "vsce", "package", "--no-dependencies", "--skip-license"]
    done = subprocess.run(
        [*command, "--allow-missing-repository", "--out", built],
        cwd=PROJECT / "tests" / "e2e" / "explorer_stand_in", stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return built


@pytest.fixture(scope="session")
def vscode() -> None:
    """code-server and Chromium are there."""
    script = PROJECT / "tests" / "e2e" / "install_vscode.sh"
    done = subprocess.run([script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless browser for all windows."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=chromium(),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield started
        started.close()


@pytest.fixture
def open_window(
    request: pytest.FixtureRequest, vscode: None, vsix: Path, browser: Browser, tmp_path: Path
) -> Iterator[Open]:
    """`open_window(folder, settings, *extensions)`: a window on the folder; a failed test leaves a screenshot and logs."""
    opened: list[tuple[CodeServer, Page]] = []

    def start(folder: Path, chosen: dict[str, Any], *more_extensions: Path) -> Workbench:
        server = CodeServer(tmp_path / f"vscode{len(opened)}", [vsix, *more_extensions], chosen)
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        opened.append((server, page))
        return Workbench(page, server, folder)

    yield start
    for server, page in opened:
        if getattr(request.node, "failed", False):
            shot = tmp_path / "failed.png"
            page.screenshot(path=shot)
            print(f"screenshot: {shot}\n{server.logs()}")
        page.close()
        server.close()


@pytest.fixture
def shop(toy_shop: Path) -> Path:
    """The toy shop as a git repository, as people have theirs."""
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "shop"],
    ):
        subprocess.run(["git", *command], cwd=toy_shop, check=True)
    return toy_shop


@pytest.fixture
def explorer(
    open_window: Open, shop: Path, bare_python: Path, explorer_stand_in: Path
) -> tuple[Workbench, Locator]:
    """A window with the failing test open, the Test Explorer beside it, and the test's row in that."""
    window = open_window(shop, settings(bare_python, model="builtin"), explorer_stand_in)
    open_the_test(window)
    window.command("Testing: Focus on Test Explorer View")
    rows = window.page.locator(".test-explorer .monaco-list-row")
    rows.filter(has_text="test_cart.py").first.locator(".monaco-tl-twistie").click()
    return window, rows.filter(has_text="test_adding_more").first


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """A Python with nothing installed: what the extension brings has to be enough."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    return tmp_path / "bare" / "bin" / "python"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Lets `open_window` know whether the test failed."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.when == "call" and report.failed:
        item.failed = True  # type: ignore[attr-defined]
