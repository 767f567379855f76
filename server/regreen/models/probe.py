"""Finding out, once for each model and server version, how a model calls tools; remembered in the user's cache."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from regreen.agent.conversation import Message, Reply, ToolSpec
from regreen.models.history import Mode

NUM_PREDICT = 96
FILE = "probe.txt"

_MESSAGES = (
    Message("system", "You call tools. Answer with one tool call and nothing else."),
    Message("user", f"Read the file {FILE}."),
)
_TOOLS = (
    ToolSpec(
        "read_file",
        "Read a file.",
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    ),
)
_MODES: tuple[Mode, ...] = ("native", "text", "constrained")
_WORDS: dict[Mode, str] = {
    "native": "native tool calls",
    "text": "calls as text (the tools are described in the prompt)",
    "constrained": "calls held to a JSON schema by the server",
}

Ask = Callable[[Mode, tuple[Message, ...], tuple[ToolSpec, ...]], Awaitable[Reply]]
Rendered = Callable[[tuple[Message, ...], tuple[ToolSpec, ...]], Awaitable[str]]


@dataclass(frozen=True)
class Finding:
    """How to offer tools to a model. `garbled`: its template prints them unreadably, so they are restated in the
    prompt. `known` is false for the assumption that holds until a probe."""

    mode: Mode = "native"
    garbled: bool = False
    known: bool = False

    @property
    def words(self) -> str:
        """For the output panel and `doctor`."""
        return _WORDS[self.mode] + (
            ", restated in the prompt since its template garbles them" if self.garbled else ""
        )


@dataclass(frozen=True)
class Remembered:
    """One line of `doctor`: a model that was probed."""

    model: str
    digest: str
    version: str
    finding: Finding


def short(body: dict[str, Any]) -> dict[str, Any]:
    """The request with no more room for a reply than a probe needs, on either wire."""
    if "options" in body:
        return {**body, "options": {**body["options"], "num_predict": NUM_PREDICT}}
    limits = ("max_tokens", "max_completion_tokens")
    return {name: NUM_PREDICT if name in limits else value for name, value in body.items()}


async def find_out(ask: Ask, rendered: Rendered) -> Finding:
    """Try native calls, then text, then constrained output, until the tiny task is answered with its call.

    Where the template garbles the tools (ollama#14601), text is tried first: it costs fewer tokens than tools
    that nobody can read. Of a model that fails in every way, the first one that gives a call at all is taken; else it
    is taken to call natively: its text is read anyway.
    """
    garbled = is_garbled(await rendered(_MESSAGES, _TOOLS))
    order: tuple[Mode, ...] = ("text", "native", "constrained") if garbled else _MODES
    some: Mode | None = None
    for mode in order:
        reply = await ask(mode, _MESSAGES, _TOOLS)
        if any(call.name == "read_file" and call.arguments.get("path") == FILE for call in reply.calls):
            return Finding(mode, garbled and mode == "native", known=True)
        if some is None and any(call.name == "read_file" for call in reply.calls):
            some = mode
    return Finding(some or "native", garbled and some in (None, "native"), known=True)


def is_garbled(prompt: str) -> bool:
    """Whether a rendered prompt shows the tool as a Go value instead of JSON."""
    return '"function": {read_file' in prompt or "{object <nil>" in prompt


def recall(cache: Path, digest: str, version: str) -> Finding:
    """What an earlier probe found; the unknown Finding when there was none."""
    entry = _read(cache).get(_key(digest, version))
    if not digest or entry is None:
        return Finding()
    return _finding(entry)


def remember(cache: Path, digest: str, version: str, model: str, finding: Finding) -> None:
    """Keep a finding. A cache that cannot be written is no reason to stop."""
    if not digest:
        return
    entries = _read(cache)
    entries[_key(digest, version)] = {
        "model": model,
        "digest": digest,
        "version": version,
        "mode": finding.mode,
        "garbled": finding.garbled,
    }
    try:
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=cache, prefix="models-", suffix=".json")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(entries, file, indent=1)
        Path(name).replace(_file(cache))
    except OSError:
        return


def remembered(cache: Path) -> list[Remembered]:
    """Every model that was probed, for `doctor`."""
    return [
        Remembered(str(e.get("model", "")), str(e.get("digest", "")), str(e.get("version", "")), _finding(e))
        for e in _read(cache).values()
    ]


def _file(cache: Path) -> Path:
    return cache / "models.json"


def _key(digest: str, version: str) -> str:
    return f"{digest}@{version}"


def _finding(entry: dict[str, Any]) -> Finding:
    mode: Mode | None = next((mode for mode in _MODES if mode == entry.get("mode")), None)
    return Finding(mode or "native", bool(entry.get("garbled")), mode is not None)


def _read(cache: Path) -> dict[str, dict[str, Any]]:
    try:
        value: Any = json.loads(_file(cache).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(value, dict):
        return {}
    items = cast("dict[str, Any]", value).items()
    return {key: cast("dict[str, Any]", entry) for key, entry in items if isinstance(entry, dict)}
