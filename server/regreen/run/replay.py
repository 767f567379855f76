"""`regreen replay`: play a trace again on a copy of the workspace, without a model, and say where it differs."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regreen.agent.budget import Allowance
from regreen.agent.trace import read_trace
from regreen.errors import UsageError
from regreen.run.ask import AskSession
from regreen.run.protocol import NOBODY, Decision, Event, Hearing
from regreen.run.resume import trace_path
from regreen.run.session import Session
from regreen.run.story import INCOMPLETE
from regreen.settings import RunSettings
from regreen.testing.target import Target
from regreen.workspace.root import Workspace
from regreen.workspace.trial import SKIPPED_FOLDERS


class _Recorded:
    """A channel that decides as the trace says, and keeps the events."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._decisions = [event for event in events if event.get("event") == "decision"]
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def listen(self, hearing: Hearing) -> None:
        pass

    async def decide(self, proposal: Event) -> Decision:
        if not self._decisions:
            return NOBODY
        event = self._decisions.pop(0)
        files: Mapping[str, str] | None = event.get("files")
        final = event.get("final") is True
        return Decision(event["decision"], str(event.get("reason", "")), files, final=final)

    async def ask(self, question: Event) -> str:
        return str(question["default"])


async def replay(name: str, workspace: str | None, as_json: bool) -> int:
    """Play a trace again; 0 when it went the same way, 1 when it differs. Raises UsageError."""
    path = trace_path(name)
    events = read_trace(path)
    started = next(event for event in events if event.get("event") == "started")
    origin = Path(workspace or started.get("workspace", ""))
    if not origin.is_dir():
        raise UsageError(
            f"The workspace {origin} is gone: pass --workspace with a folder that holds the project."
        )
    with tempfile.TemporaryDirectory(prefix="regreen-replay-") as folder:
        copy = _copy_as_it_was(origin, Path(folder) / origin.name, events)
        again = await _play(path, copy, started, events)
    complete = any(event.get("event") == "outcome" for event in events)
    differences = compare(events, again)
    if as_json:
        found = {
            "trace": str(path),
            "complete": complete,
            "same": not differences,
            "differences": differences,
        }
        print(json.dumps(found))
        return 1 if differences else 0
    if not complete:
        print(f"The trace is {INCOMPLETE}; only what it holds is compared.")
    if differences:
        print("\n".join(["The run went another way:", *(f"  {line}" for line in differences)]))
    elif complete:
        print(f"The same run again: {len(again)} events, outcome {again[-1].get('outcome')}.")
    else:
        print(f"The same as far as it goes: {len(_telling(events))} calls, trials and decisions.")
    return 1 if differences else 0


def _copy_as_it_was(origin: Path, copy: Path, events: Sequence[Mapping[str, Any]]) -> Path:
    shutil.copytree(origin, copy, symlinks=True, ignore=shutil.ignore_patterns(*SKIPPED_FOLDERS))
    workspace = Workspace.open(copy)
    try:
        for event in events:
            if event.get("event") == "base":
                workspace.may_read(str(event["path"]))
                file = copy / str(event["path"])
                if event.get("text") is None:
                    file.unlink(missing_ok=True)
                else:
                    file.write_bytes(str(event["text"]).encode("utf-8"))
    finally:
        workspace.close()
    return copy


async def _play(
    path: Path, copy: Path, started: Mapping[str, Any], events: Sequence[Mapping[str, Any]]
) -> list[Event]:
    channel = _Recorded(events)
    workspace = Workspace.open(copy)
    if started.get("unlocked") is True:
        workspace.policy.unlock_tests()
    settings = RunSettings(
        model=f"replay:{path}",
        approval=started.get("approval", "everyEdit"),
        seal="prefer",
        allowance=_allowance(started, events),
    )
    try:
        await _session(
            str(started["target"]), workspace, Path(started["python"]), settings, channel, events
        ).execute()
    finally:
        workspace.close()
    return channel.events


def _allowance(started: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> Allowance:
    """As many steps as there were, so that a budget that was used up is so again, whichever it was; of the rest as much
    as it takes."""
    budget: Mapping[str, Any] = started.get("budget") or {}
    outcome = next((event for event in reversed(events) if event.get("event") == "outcome"), None) or {}
    used = int(outcome.get("steps") or 0)
    allowed = int(budget.get("steps") or Allowance.steps)
    steps = used if outcome.get("outcome") == "budget" else max(used, allowed)
    return Allowance(steps, tokens=10**9, seconds=86_400.0, cost=1e9)


def _session(
    target: str,
    workspace: Workspace,
    python: Path,
    settings: RunSettings,
    channel: _Recorded,
    events: Sequence[Mapping[str, Any]],
) -> Session:
    """The same kind of run. Where the trace does not say it: one with a target has evidence, a task in words none."""
    started = next(event for event in events if event.get("event") == "started")
    guess = "fix" if any(event.get("event") == "evidence" for event in events) else "ask"
    if started.get("command", guess) == "fix":
        return Session(Target.from_nodeid(target), workspace, python, settings, channel)
    return AskSession(target, workspace, python, settings, channel)


def compare(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where two runs differ in what matters: calls, verdicts, decisions and the outcome. Of a run that did not
    finish, only what it did is compared."""
    old, new = [*map(_essence, _telling(before))], [*map(_essence, _telling(after))]
    differences = [
        f"event {i}: {a} became {b}" for i, (a, b) in enumerate(zip(old, new, strict=False), 1) if a != b
    ]
    complete = any(event.get("event") == "outcome" for event in before)
    if len(old) > len(new) or (complete and len(old) != len(new)):
        differences.append(f"{len(old)} telling events became {len(new)}")
    return differences


def _telling(events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [event for event in events if event.get("event") in ("call", "trial", "decision", "outcome")]


def _essence(event: Mapping[str, Any]) -> str:
    kind = event["event"]
    if kind == "call":
        return f"call {event['name']} {json.dumps(event['arguments'], sort_keys=True)}"
    if kind == "trial":
        verdict = event["verdict"]
        return f"trial {verdict['target']} {verdict['progress']}"
    return f"{kind} {event.get('decision') or event.get('outcome')}"
