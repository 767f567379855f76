"""A real VS Code with the extension in it: code-server as the workbench, headless Chromium as its window."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
CODE_SERVER = "4.139.1"
START_SECONDS = 120.0
# On a busy machine everything takes longer; nothing here measures by waiting.
PATIENCE_MS = 90_000
expect.set_options(timeout=PATIENCE_MS)

# What makes the window quiet, and behave as on a desktop: the web build saves by itself.
QUIET: dict[str, Any] = {
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.tips.enabled": False,
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.reduceMotion": "on",
    "chat.disableAIFeatures": True,
    "files.autoSave": "off",
    "files.simpleDialog.enable": True,
    "window.dialogStyle": "custom",
    "telemetry.telemetryLevel": "off",
    "remote.autoForwardPorts": False,
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "git.openRepositoryInParentFolders": "never",
    "git.blame.statusBarItem.enabled": False,
    "security.workspace.trust.enabled": False,
    "editor.minimap.enabled": False,
    "breadcrumbs.enabled": False,
}


def cache() -> Path:
    """Where install_vscode.sh puts things."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("REGREEN_CACHE") or caches / "regreen-tests")


def node() -> Path:
    """The Node that runs code-server."""
    found = sorted((cache() / "node-24" / "node_modules").glob("node-*/bin/node"))
    assert found, "no Node 24 in the cache: run tests/e2e/install_vscode.sh"
    return found[0]


def chromium() -> str:
    """The browser of the system."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise AssertionError("no Chromium on the path: run tests/e2e/install_vscode.sh")


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class CodeServer:
    """One code-server with folders of its own, and extensions installed from their VSIX files."""

    def __init__(self, folder: Path, extensions: Sequence[Path], settings: Mapping[str, Any]) -> None:
        self.port = free_port()
        self._folder = folder
        self._env = {**os.environ, "HOME": str(folder / "home")}
        # Set inside an editor's terminal: code-server would hand the folder to that editor.
        for name in ("VSCODE_IPC_HOOK_CLI", "PYTHONPATH", "VIRTUAL_ENV"):
            self._env.pop(name, None)
        (folder / "home").mkdir(parents=True, exist_ok=True)
        # Settings that a workspace cannot set are read from the machine's file in a remote window.
        for name in ("User", "Machine"):
            path = folder / "data" / name / "settings.json"
            path.parent.mkdir(parents=True)
            chosen = settings if name == "Machine" else {**QUIET, **settings}
            path.write_text(json.dumps(chosen, indent=2))
        done = subprocess.run(
            [*self._command(), *(part for vsix in extensions for part in ("--install-extension", str(vsix)))],
            env=self._env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        self.log = folder / "code-server.log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*self._command(), "--auth", "none", "--bind-addr", f"127.0.0.1:{self.port}",
                 "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"],
                env=self._env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._wait()

    def _command(self) -> list[str]:
        entry = (
            cache()
            / f"code-server-{CODE_SERVER}"
            / "node_modules"
            / "code-server"
            / "out"
            / "node"
            / "entry.js"
        )
        folders = [
            "--user-data-dir",
            str(self._folder / "data"),
            "--extensions-dir",
            str(self._folder / "extensions"),
        ]
        return [str(node()), str(entry), *folders]

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, self.log.read_text(errors="replace")
            assert time.monotonic() < deadline, self.log.read_text(errors="replace")
            time.sleep(0.2)

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2).close()
        except OSError:
            return False
        return True

    @property
    def data(self) -> Path:
        """Where VS Code keeps what it and its extensions remember."""
        return self._folder / "data"

    def logs(self) -> str:
        """The extension's logs, its server's and the extension host's, for a failed test."""
        logs = sorted((self._folder / "data" / "logs").rglob("*.log"))
        ours = [path for path in logs if path.name.startswith(("Regreen", "remoteexthost"))]
        parts = [f"--- {path.name}\n{path.read_text(errors='replace')[-6000:]}" for path in [self.log, *ours]]
        return "\n".join(parts)

    def extension_log(self) -> str:
        """What the output panel "Regreen" shows."""
        found = sorted((self._folder / "data" / "logs").rglob("Regreen.log"))
        return "\n".join(path.read_text(errors="replace") for path in found)

    def close(self) -> None:
        """Ends the server and everything that it started."""
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait(timeout=10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


class Workbench:
    """The window, with the few things that a person does in it."""

    def __init__(self, page: Page, server: CodeServer, folder: Path) -> None:
        self.page = page
        self.server = server
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"http://127.0.0.1:{server.port}/?folder={folder}")
        page.wait_for_selector(".monaco-workbench .part.editor")
        page.wait_for_selector(".explorer-folders-view .monaco-list-row")

    def command(self, title: str) -> None:
        """Runs a command of the palette by its full title."""
        self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-widget input").first
        box.wait_for()
        box.fill(f">{title}")
        row = self.page.locator(".quick-input-list .monaco-list-row").filter(has_text=title).first
        row.click()

    def open(self, path: str, line: int) -> None:
        """Opens a file of the folder with the cursor on a line (1-based)."""
        self.page.keyboard.press("Control+P")
        box = self.page.locator(".quick-input-widget input").first
        box.wait_for()
        box.fill(path)
        self.page.locator(".quick-input-list .monaco-list-row").filter(
            has_text=Path(path).name
        ).first.wait_for()
        box.fill(f"{path}:{line}")
        self.page.keyboard.press("Enter")
        self.tab(Path(path).name).wait_for()
        expect(self.page.locator(".statusbar-item").filter(has_text=f"Ln {line},").first).to_be_visible()

    def tab(self, text: str) -> Locator:
        """The tab of an editor."""
        return self.page.locator(".tabs-container .tab").filter(has_text=text).first

    def status(self, text: str | re.Pattern[str]) -> Locator:
        """An item of the status bar."""
        return self.page.locator(".statusbar-item").filter(has_text=text).first

    def line(self, text: str) -> Locator:
        """A line of the editor that shows `text`; the editor writes spaces as no-break spaces."""
        return self.page.locator(".editor-instance .view-line").filter(has_text=text).first

    def title_button(self, label: str) -> Locator:
        """A button in the title bar of the editor."""
        return self.page.locator(f'.editor-actions a.action-label[aria-label^="{label}"]').first

    def menu_item(self, text: str) -> Locator:
        """An item of the open context menu."""
        return self.page.locator(".monaco-menu .action-item").filter(has_text=text).first

    def toast(self, text: str) -> Locator:
        """A notification."""
        return self.page.locator(".notification-toast").filter(has_text=text).first


def note_figure(name: str, value: float) -> None:
    """Adds a measured figure to .cache/figures/vscode.json."""
    path = PROJECT / ".cache" / "figures" / "vscode.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    figures = json.loads(path.read_text()) if path.is_file() else {}
    figures[name] = value
    path.write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n")


def picture(page: Page, name: str) -> None:
    """A screenshot for the README, into docs/images (or the folder in REGREEN_SCREENSHOTS)."""
    folder = Path(os.environ.get("REGREEN_SCREENSHOTS") or PROJECT / "docs" / "images")
    folder.mkdir(parents=True, exist_ok=True)
    page.mouse.move(200, 500)  # over nothing: no hover in the picture
    page.screenshot(path=folder / f"{name}.png")
