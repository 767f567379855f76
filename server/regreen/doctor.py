"""`regreen doctor`: what is missing on this machine, each with the command that mends it."""

from __future__ import annotations

import importlib.util
import json
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from regreen import __version__
from regreen.errors import RegreenError, command_in
from regreen.models import probe
from regreen.models.choose import look_for_ollama
from regreen.models.hosts import ollama_url
from regreen.run.consent import ask_again, is_kept
from regreen.run.look import look
from regreen.settings import DEFAULT_MODEL, cache_folder, state_folder
from regreen.testing.interpreter import check_pytest, find_interpreter
from regreen.testing.seal.choose import choose as choose_seal
from regreen.testing.seal.choose import describe
from regreen.testing.seal.door import Choice
from regreen.workspace.root import Workspace

Level = Literal["ok", "missing", "broken", "optional"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `missing` and `broken` stop runs; `optional` only makes them weaker. `command` mends it."""

    name: str
    level: Level
    text: str
    command: str = ""

    def to_json(self) -> dict[str, str]:
        """The finding as `--json` prints it; `mend` is an older name of `command`."""
        return {**asdict(self), "mend": self.command}


async def examine(workspace: Path, python: str | None, base_url: str | None, as_json: bool) -> int:
    """Look at everything and print it. 0 when a run can start, 3 when something it needs is missing."""
    findings = [_regreen(), *_model_libraries(), await _ollama(base_url), *_models()]
    choice = await choose_seal("prefer")
    findings.append(_seal(choice, workspace))
    findings += await _project(workspace, python, choice)
    findings.append(
        Finding("folders", "ok", f"traces and undo in {state_folder()}, trial copies in {cache_folder()}")
    )
    missing = any(finding.level in ("missing", "broken") for finding in findings)
    if as_json:
        print(json.dumps({"ok": not missing, "findings": [finding.to_json() for finding in findings]}))
    else:
        for finding in findings:
            mark = finding.level.upper() if finding.level in ("missing", "broken") else finding.level
            print(f"{mark:8}  {finding.name}: {finding.text}")
            if finding.command:
                print(f"          mend it with: {finding.command}")
    return 3 if missing else 0


def _regreen() -> Finding:
    version = f"{__version__} on Python {platform.python_version()} ({sys.executable})"
    return Finding("regreen", "ok", version)


def _model_libraries() -> list[Finding]:
    absent = [name for name in ("ollama", "openai") if importlib.util.find_spec(name) is None]
    if not absent:
        return [Finding("model libraries", "ok", "ollama and openai can be imported")]
    text = f"{' and '.join(absent)} cannot be imported; runs use the built-in search until they can"
    return [
        Finding("model libraries", "optional", text, f"{sys.executable} -m pip install {' '.join(absent)}")
    ]


async def _ollama(base_url: str | None) -> Finding:
    found = await look_for_ollama(base_url)
    if found is None:
        text = f"nothing answers at {ollama_url(base_url)}; runs use the built-in search"
        return Finding("ollama", "optional", text, "ollama serve")
    if not found.model:
        return Finding("ollama", "optional", found.why, f"ollama pull {DEFAULT_MODEL}")
    shown = ", ".join(found.models[:5])
    return Finding("ollama", "ok", f"answers at {found.host}; auto uses {found.model} of {shown}")


def _models() -> list[Finding]:
    """How each model that was tried calls tools, as the last probe of it found."""
    last = {known.model: known for known in probe.remembered(cache_folder()) if known.finding.known}
    return [
        Finding(f"model {name}", "ok", f"{known.finding.words}; found out with Ollama {known.version}")
        for name, known in sorted(last.items())
    ]


def _seal(choice: Choice, workspace: Path) -> Finding:
    if sys.platform == "win32":
        text = "Regreen starts no runs on Windows itself, where it could not stay inside one folder; it runs in WSL 2"
        return Finding("seal", "missing", text, "wsl --install")
    text = describe(choice)
    kept = workspace.is_dir() and is_kept(workspace)
    if choice.seal.name != "none":
        unused = "; you allowed this folder to run unsealed where no seal can be made" if kept else ""
        return Finding("seal", "ok", text + unused, ask_again(workspace) if kept else "")
    if kept:
        return Finding("seal", "optional", f"{text}; you allowed that for {workspace}", ask_again(workspace))
    text += ". Without one, `--seal off` runs tests with your own rights"
    command = "sudo apt install bubblewrap" if sys.platform == "linux" else ""
    return Finding("seal", "missing", text, command)


async def _project(folder: Path, setting: str | None, choice: Choice) -> list[Finding]:
    try:
        workspace = Workspace.open(folder)
    except RegreenError as error:
        return [Finding("workspace", "missing", str(error), "regreen doctor --workspace DIR")]
    try:
        python = find_interpreter(workspace.root, setting)
        async with look(workspace, python, choice.seal) as (runner, tree):
            problem = await check_pytest(runner, tree)
    except RegreenError as error:
        return [Finding("interpreter", "missing", str(error), command_in(str(error)))]
    finally:
        workspace.close()
    found = Finding("interpreter", "ok", f"{python} runs the tests of {workspace.root}")
    if not problem:
        return [found]
    if problem.startswith("there is no pytest"):
        return [found, Finding("pytest", "missing", problem, command_in(problem))]
    return [found, Finding("tests", "broken", f"they cannot be collected: {problem}", command_in(problem))]
