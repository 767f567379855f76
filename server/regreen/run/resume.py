"""Going on from an earlier run: its best edits, and what the model is told of it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regreen.agent.trace import read_trace
from regreen.errors import UsageError
from regreen.redact import LEFT_OUT
from regreen.settings import run_folder
from regreen.testing.evidence import cut
from regreen.tools.toolbox import Desk, Settled
from regreen.workspace.draft import Draft
from regreen.workspace.journal import blob, read_entries

TOLD_EDITS = 4
WROTE_CHARS = 3_000
EARLIER = "This is where the earlier run got to."
BATCH_FILE = "runs.json"


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier run left: `texts` by path are its best edits that were not written, `bases` the digests of what
    they were made from, where the trace says so. `wrote` are the diffs that it wrote, `before` what those files held
    before it began (None: they were not there)."""

    texts: Mapping[str, str]
    tried: tuple[str, ...]
    bases: Mapping[str, str | None] = field(default_factory=lambda: dict[str, str | None]())
    wrote: tuple[str, ...] = ()
    before: Mapping[str, bytes | None] = field(default_factory=lambda: dict[str, "bytes | None"]())

    def told(self) -> str:
        """The earlier run in a few lines, for the model."""
        if not self.tried:
            return ""
        lines = "\n".join(f"- {line}" for line in self.tried[:TOLD_EDITS])
        return f"Tried before, without success:\n{lines}"

    def told_task(self) -> str:
        """The same for a task in words, which may be about what the earlier run wrote."""
        wrote = "".join(self.wrote)
        parts = [f"Changed in an earlier run:\n{cut(wrote, WROTE_CHARS)}" if wrote else "", self.told()]
        return "\n\n".join(part for part in parts if part)


def trace_path(name: str) -> Path:
    """A trace given by its path or by its run's id. Raises UsageError when there is none."""
    direct = Path(name)
    for path in (direct, direct / "trace.jsonl", run_folder(name) / "trace.jsonl"):
        if path.is_file():
            return path
    if members := batch_members(name):
        raise UsageError(f"{name} stands for several runs, name one of them: {' '.join(members)}")
    raise UsageError(
        f"There is no trace {name}: give the path of a trace, or a run's id as the outcome shows it."
    )


def keep_batch(batch: str, runs: Sequence[str]) -> None:
    """Note which runs, in their order, belong together: those of one path with several failing tests."""
    folder = run_folder(batch)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (folder / BATCH_FILE).write_text(json.dumps(list(runs)), encoding="utf-8")


def batch_members(name: str) -> list[str]:
    """The runs of a batch; [] when the name is none of a batch."""
    try:
        listed = json.loads((run_folder(name) / BATCH_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [str(run) for run in listed]


def earlier_run(name: str) -> Earlier:
    """Read what an earlier run left. Raises UsageError when there is no such trace."""
    path = trace_path(name)
    events = read_trace(path)
    texts: dict[str, str] = {}
    wrote: tuple[str, ...] = ()
    bases: dict[str, str | None] = {}
    tried: list[str] = []
    pending: dict[str, Any] | None = None
    for event in events:
        kind = event.get("event")
        if kind == "call" and event.get("name") in ("edit_file", "write_file"):
            pending = event.get("arguments") or {}
        elif kind == "trial" and pending is not None:
            verdict: dict[str, Any] = event.get("verdict") or {}
            if verdict.get("progress") in ("same", "changed", "worse"):
                tried.append(
                    f"{pending.get('path')}: {str(pending.get('replace', pending.get('content', '')))[:120]!r}"
                )
            pending = None
        elif kind == "outcome":
            partial: list[dict[str, Any]] = [p for p in event.get("partial") or () if "text" in p]
            texts = {p["path"]: p["text"] for p in partial}
            bases = {p["path"]: p["base_sha256"] for p in partial if "base_sha256" in p}
            wrote = tuple(str(edit.get("diff", "")) for edit in event.get("edits") or ())
    for file, text in texts.items():
        if LEFT_OUT in text:
            raise UsageError(
                f"The trace leaves out a secret that stands in {file}, so its edit cannot be taken from there. "
                "Start again without --resume."
            )
    return Earlier(texts, tuple(tried), bases, wrote, contents_before(path.parent / "journal"))


def contents_before(journal: Path) -> dict[str, bytes | None]:
    """What the files that a run changed held before it began, by path; None for one that was not there. A content that
    is missing leaves its file out."""
    found: dict[str, bytes | None] = {}
    entries = read_entries(journal)
    void = {entry.get("id") for entry in entries if entry.get("op") == "void"}
    for entry in entries:
        if entry.get("op") not in ("intent", "noted") or entry.get("id") in void or "undoes" in entry:
            continue
        path, digest = str(entry["path"]), entry.get("before")
        if path not in found:
            with contextlib.suppress(UsageError):
                found[path] = None if digest is None else blob(journal, str(digest))
    return found


async def offer_again(
    earlier: Earlier, draft: Draft, desk: Desk, note: Callable[[str], None]
) -> Settled | None:
    """Settle the best edits of an earlier run as the first proposal of this one: tried, shown and decided like any
    other. None when there are none, or when a file was changed since, so that they would take that back."""
    changes = [draft.change(path, text) for path, text in earlier.texts.items()]
    moved = [c.path for c in changes if c.path in earlier.bases and earlier.bases[c.path] != c.base_sha256]
    if moved:
        note(f"The earlier run's edits are left out: {', '.join(moved)} changed since then.")
    changes = [change for change in changes if change.after != change.before]
    return None if moved or not changes else await desk.submit(changes, EARLIER, "")
