"""`make live`: the whole thing against a real Ollama, with a good small model and a weak one, and a report to keep.

Asks nothing. Exit code 0: every run ended as a run may end, and nothing was written without a fix; 1: one did not;
3: no Ollama answers, or a model is missing (the command that fetches it is printed).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regreen import __version__
from regreen.errors import RegreenError
from regreen.models.hosts import ask, ollama_url

PROJECT = Path(__file__).resolve().parent.parent.parent
MODELS = ("qwen2.5:3b", "qwen2.5:0.5b")
TWO_PART = "tests/test_cart.py::test_adding_more_of_a_product_reaches_the_offer"
HARD = "tests/test_receipts.py::test_a_receipt_shows_discount_and_tax_by_rate"
MISSING = 3


@dataclass(frozen=True)
class Task:
    """What is asked of each model. `search`: with the quick search beside it, as a person gets it."""

    name: str
    target: str
    search: bool


TASKS = (
    Task("two-part bug, as shipped", TWO_PART, True),
    Task("two-part bug, the model alone", TWO_PART, False),
    Task("several functions, the model alone", HARD, False),
)


@dataclass
class Ran:
    """One run and what is known of it. `faults`: what must not be, whatever the model does."""

    model: str
    task: Task
    outcome: dict[str, Any]
    notes: list[str]
    exit_code: int
    seconds: float
    replies: list[dict[str, Any]] = field(default_factory=lambda: list[dict[str, Any]]())
    faults: list[str] = field(default_factory=lambda: list[str]())

    @property
    def speed(self) -> str:
        """Generated tokens a second: as the server measured them, else over the whole reply."""
        told = [reply["speed"] for reply in self.replies if reply.get("speed")]
        per_second = [float(s["written_per_second"]) for s in told if s.get("written_per_second")]
        if per_second:
            return f"{sum(per_second) / len(per_second):.1f}"
        generated = sum(reply["usage"]["generated"] for reply in self.replies)
        seconds = sum(reply["seconds"] for reply in self.replies)
        return f"{generated / seconds:.1f}" if generated and seconds > 0.01 else "–"


def main(arguments: Sequence[str] | None = None) -> int:
    """Look, run, report."""
    parser = argparse.ArgumentParser(prog="make live", description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FILE", help="save the report (Markdown) as well")
    parser.add_argument("--model", action="append", metavar="NAME", help=f"default: {' and '.join(MODELS)}")
    parser.add_argument("--max-steps", type=int, default=12, metavar="N")
    options = parser.parse_args(arguments)
    models = tuple(options.model or MODELS)
    try:
        url = ollama_url(None)
        version, listed = asyncio.run(_look(url))
    except RegreenError as error:
        print(f"make live: {error}", file=sys.stderr)
        return MISSING
    if problem := _missing(url, version, listed, models):
        print(f"make live: {problem}", file=sys.stderr)
        return MISSING
    print(
        f"Ollama {version} at {url}. {len(models) * len(TASKS)} runs; a few minutes on a machine without a graphics card."
    )
    ran = [_run(model, task, url, options.max_steps) for model in models for task in TASKS]
    text = report(ran, url, version, listed, asyncio.run(ask(url, "/api/ps", 3)) or {})
    print(f"\n{text}")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text, encoding="utf-8")
        print(f"Saved as {options.out.resolve()}")
    return 1 if any(run.faults for run in ran) else 0


async def _look(url: str) -> tuple[str, dict[str, Any]]:
    """Ollama's version ("" when nothing answers) and its models by name."""
    version = await ask(url, "/api/version", 3)
    tags = await ask(url, "/api/tags", 10) if version else None
    models = (tags or {}).get("models") or []
    return str((version or {}).get("version", "")), {str(model["name"]): model for model in models}


def _missing(url: str, version: str, listed: dict[str, Any], models: Sequence[str]) -> str:
    if not version:
        return (
            f"no Ollama answers at {url}. Start it with `ollama serve` (https://ollama.com has it), or say with "
            "OLLAMA_HOST where it is; then run `make live` again."
        )
    absent = [model for model in models if model not in listed and f"{model}:latest" not in listed]
    if not absent:
        return ""
    commands = "\n".join(f"  ollama pull {model}" for model in absent)
    return f"Ollama answers at {url}, but has no {' and no '.join(absent)}. Fetch what is missing, then run it again:\n{commands}"


def _run(model: str, task: Task, url: str, steps: int) -> Ran:
    """One run on a copy of the toy shop, which is looked at afterwards by plain pytest."""
    print(f"\n{model}: {task.name}", flush=True)
    with tempfile.TemporaryDirectory(prefix="regreen-live-") as folder:
        shop = Path(folder) / "toy_shop"
        shutil.copytree(PROJECT / "toy_repo", shop, ignore=shutil.ignore_patterns("__pycache__"))
        command = [
            *(sys.executable, "-m", "regreen", "fix", task.target, "--json", "--workspace", str(shop)),
            *("--model", f"ollama:{model}", "--base-url", url, "--approval", "never", "--seal", "prefer"),
            *(
                "--max-steps",
                str(steps),
                "--search",
                "on" if task.search else "off",
                "--python",
                sys.executable,
            ),
        ]
        begun = time.monotonic()
        process = subprocess.Popen(
            command, cwd=shop, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        outcome, notes = _follow(process)
        ran = Ran(model, task, outcome, notes, process.wait(), time.monotonic() - begun)
        ran.replies = _replies(outcome)
        ran.faults = _faults(ran, shop)
    said = next(iter(str(outcome.get("explanation", "")).splitlines()), "")
    print(f"  {outcome.get('outcome')}: {said}", flush=True)
    return ran


def _follow(process: subprocess.Popen[str]) -> tuple[dict[str, Any], list[str]]:
    """Show a run as it goes; its outcome and its notes."""
    outcome: dict[str, Any] = {}
    notes: list[str] = []
    assert process.stdout
    for line in process.stdout:
        event = json.loads(line)
        kind = event["event"]
        if kind == "outcome":
            outcome = event
        elif kind == "note":
            notes.append(event["text"])
        if kind in ("step", "call", "trial"):
            said = event.get("summary") or event.get("name") or event.get("n")
            print(f"  {kind} {said}", flush=True)
    return outcome, notes


def _replies(outcome: dict[str, Any]) -> list[dict[str, Any]]:
    trace = Path(str(outcome.get("trace", "")))
    if not trace.is_file():
        return []
    events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    return [event for event in events if event["event"] == "reply"]


def _faults(ran: Ran, shop: Path) -> list[str]:
    """What must never be: no outcome, an error of ours, a change without a fix, a fix that is none."""
    ended = str(ran.outcome.get("outcome", ""))
    faults = [] if ended else ["the run ended without an outcome"]
    if ended in ("error", "setup_problem") or ran.exit_code in (2, 3, 5):
        faults.append(
            f"it ended as {ended or 'nothing'} with exit code {ran.exit_code}: {ran.outcome.get('explanation', '')}"
        )
    same = ["git", "diff", "--no-index", "--quiet", str(PROJECT / "toy_repo" / "tests"), str(shop / "tests")]
    if subprocess.run(same, stdin=subprocess.DEVNULL).returncode:
        faults.append("the tests were changed")
    same[-2:] = [str(PROJECT / "toy_repo" / "shop"), str(shop / "shop")]
    changed = bool(subprocess.run(same, stdin=subprocess.DEVNULL).returncode)
    if changed != (ended == "fixed"):
        faults.append(
            "files were changed without a fix" if changed else "it says fixed, and nothing was changed"
        )
    tests = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", ran.task.target]
    passes = subprocess.run(tests, cwd=shop, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    if passes != (ended == "fixed"):
        faults.append("plain pytest does not agree with the outcome")
    return faults


# -- the report --------------------------------------------------------------------------------------------


def report(ran: Sequence[Ran], url: str, version: str, listed: dict[str, Any], loaded: dict[str, Any]) -> str:
    """The report as Markdown."""
    lines = [
        f"# Regreen {__version__} with a real Ollama, {time.strftime('%Y-%m-%d %H:%M')}",
        "",
        f"- Ollama {version} at {url}",
        *(f"- {_model_words(name, listed, loaded)}" for name in dict.fromkeys(run.model for run in ran)),
        f"- Python {platform.python_version()}, {platform.platform()}",
        f"- {_processor()}, {os.cpu_count()} cores, {_memory()}",
        f"- seal: {', '.join(sorted({str(run.outcome.get('seal')) for run in ran}))}",
        "",
        "| model | task | outcome | steps | prompt tokens | from the cache | generated | tokens/s | model s | tests s | whole s |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        *(_row(run) for run in ran),
        "",
    ]
    for run in ran:
        lines += [f"## {run.model}: {run.task.name}", "", f"`{run.task.target}`", ""]
        lines += [f"> {line}" for line in str(run.outcome.get("summary", "no outcome")).splitlines()]
        lines += ["", *(f"- {note}" for note in dict.fromkeys(run.notes))]
        lines += [
            f"- trace: {run.outcome.get('trace', '–')}",
            f"- look into it: `regreen show {run.outcome.get('run', '')} --html run.html`",
        ]
        lines += [f"- **must not be: {fault}**" for fault in run.faults]
        lines.append("")
    held = (
        "Nothing that must not be."
        if not any(run.faults for run in ran)
        else "**Something must not be: see above.**"
    )
    return "\n".join([*lines, f"{held} What to look at by hand: docs/live-checklist.md.", ""])


def _row(run: Ran) -> str:
    outcome = run.outcome
    tokens, seconds = outcome.get("tokens") or {}, outcome.get("seconds") or {}
    prompt, cached = tokens.get("prompt", 0), tokens.get("cached", 0)
    share = f"{100 * cached / prompt:.0f} %" if prompt else "–"
    cells = [
        run.model,
        run.task.name,
        str(outcome.get("outcome", "none")),
        str(outcome.get("steps", 0)),
        f"{prompt:,}",
        share,
        f"{tokens.get('generated', 0):,}",
        run.speed,
        f"{seconds.get('model', 0):.1f}",
        f"{seconds.get('tests', 0):.1f}",
        f"{run.seconds:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def _model_words(name: str, listed: dict[str, Any], loaded: dict[str, Any]) -> str:
    known = listed.get(name) or listed.get(f"{name}:latest") or {}
    details = known.get("details") or {}
    words = [
        f"{name}: {details.get('parameter_size', '?')} parameters, {details.get('quantization_level', '?')}"
    ]
    words.append(f"{known.get('size', 0) / 1e9:.1f} GB, digest {str(known.get('digest', ''))[:12]}")
    for model in loaded.get("models") or []:
        if model.get("name") == name and model.get("size"):
            share = 100 * model.get("size_vram", 0) / model["size"]
            words.append(f"{share:.0f} % on a graphics card" if share else "on the processor")
            if context := model.get("context_length"):
                words.append(f"context {context:,}")
    return ", ".join(words)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB of memory"
    except (ValueError, OSError, AttributeError):
        return "memory unknown"


if __name__ == "__main__":
    sys.exit(main())
