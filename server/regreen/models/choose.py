"""From `--model SPEC` to a model. Imports no HTTP library: the built-in search must start without one."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regreen.agent.model import Model
from regreen.errors import RegreenError, UsageError
from regreen.models.assemble import json_object
from regreen.models.hosts import ask, is_local, ollama_url, server_url
from regreen.settings import DEFAULT_MODEL as DEFAULT
from regreen.settings import cache_folder

PREFERRED = ("qwen2.5-coder", "qwen3-coder", "qwen3", "qwen2.5", "llama3.2", "llama3.1", "granite", "mistral")
"""Families that call tools well for their size, best first."""

PROBE_SECONDS = 0.4
OPENAI_URL = "https://api.openai.com/v1"
OPENROUTER_URL = "https://openrouter.ai/api/v1"
SPECS = "auto, builtin, ollama:NAME, openai:NAME or replay:FILE"


def check_spec(spec: str) -> None:
    """Raise UsageError when `--model` names no model, before anything is run."""
    kind, _, name = spec.strip().partition(":")
    if spec.strip() in ("", "auto", "builtin") or kind == "ollama" or (kind == "openai" and name):
        return
    if kind != "replay" or not name:
        raise UsageError(f"{spec!r} is no model: --model takes {SPECS}.")
    if not Path(name).expanduser().is_file():
        raise UsageError(f"There is no trace {name} to replay.")


async def choose(
    spec: str,
    *,
    base_url: str | None,
    make_builtin: Callable[[], Model],
    notes: Callable[[str], None],
    warn: Callable[[str], None] | None = None,
    cache: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    max_cost: float | None = None,
) -> Model:
    """The model that a spec names; nothing is loaded yet.

    auto: Ollama when it answers within 0.4 s and has a model that can call tools, else the built-in search, and
    why. `notes` hears one line about such a choice, and one when code will leave this machine; `warn` (None: `notes`)
    what may spoil the run. `max_cost` is what the run may cost, in US dollars, where a person set it. `cache` is where findings about models are kept (None: the user's cache folder). Raises
    UsageError for a spec that is none, RegreenError for a missing library or key.
    """
    cache = cache or cache_folder()
    kind, _, name = spec.strip().partition(":")
    if spec.strip() in ("", "auto"):
        return await _auto(base_url, make_builtin, notes, cache, environ)
    if spec.strip() == "builtin":
        return make_builtin()
    if kind == "ollama":
        _need("ollama")
        return _ollama(name or DEFAULT, ollama_url(base_url, environ), notes, cache)
    if kind == "openai" and name:
        _need("openai")
        return _openai(name, base_url, notes, warn, cache, environ, max_cost)
    if kind == "replay" and name:
        from regreen.models.replay import ReplayModel

        return ReplayModel(Path(name).expanduser())
    raise UsageError(f"{spec!r} is no model: --model takes {SPECS}.")


async def _auto(
    base_url: str | None,
    make_builtin: Callable[[], Model],
    notes: Callable[[str], None],
    cache: Path | None,
    environ: Mapping[str, str],
) -> Model:
    found = await look_for_ollama(base_url, environ)
    if found is None:
        why = f"Ollama does not answer at {ollama_url(base_url, environ)}"
    elif not found.model:
        why = found.why
    elif not _has("ollama"):
        why = f"Ollama has {found.model}, but the Python package `ollama` is not installed"
    else:
        if found.model != DEFAULT:
            notes(f"{DEFAULT} is not pulled, so {found.model} is used.")
        return _ollama(found.model, found.host, notes, cache)
    notes(f"{why}, so the built-in search is used.")
    return make_builtin()


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _need(package: str) -> None:
    if not _has(package):
        raise RegreenError(
            f"The Python package `{package}` is missing: install it with `pip install {package}`, or use --model builtin."
        )


def _ollama(name: str, url: str, notes: Callable[[str], None], cache: Path | None) -> Model:
    from regreen.models.ollama import OllamaModel

    _tell_remote(url, notes)
    return OllamaModel(name, url, notes=notes, cache=cache)


def _openai(
    name: str,
    base_url: str | None,
    notes: Callable[[str], None],
    warn: Callable[[str], None] | None,
    cache: Path | None,
    environ: Mapping[str, str],
    max_cost: float | None,
) -> Model:
    from regreen.models.openai import OpenAIModel

    key = environ.get("OPENAI_API_KEY", "")
    router_key = environ.get("OPENROUTER_API_KEY", "")
    given = base_url or environ.get("OPENAI_BASE_URL")
    if given:
        url = server_url(given)
    else:
        url = OPENROUTER_URL if router_key and not key else OPENAI_URL
    if "openrouter.ai" in url:
        key = router_key or key
    if not key and url in (OPENAI_URL, OPENROUTER_URL):
        raise RegreenError(
            f"There is no key for {url}: set OPENAI_API_KEY or OPENROUTER_API_KEY in the environment, or name a "
            "server of your own with --base-url."
        )
    _tell_remote(url, notes)
    return OpenAIModel(name, url, key=key, notes=notes, warn=warn, cache=cache, max_cost=max_cost)


def _tell_remote(url: str, notes: Callable[[str], None]) -> None:
    if not is_local(url):
        notes(f"This run sends parts of your code to {url}, off this machine.")


@dataclass(frozen=True)
class OllamaFound:
    """What a look at Ollama found: `model` is the one to use, or "" and `why` there is none. `models` are all."""

    host: str
    model: str = ""
    why: str = ""
    models: tuple[str, ...] = ()


async def look_for_ollama(
    base_url: str | None, environ: Mapping[str, str] = os.environ, seconds: float = PROBE_SECONDS
) -> OllamaFound | None:
    """Look whether Ollama answers, and which of its models to use; None when nothing answers in time.

    Raises UsageError when the setting is no address.
    """
    host = ollama_url(base_url, environ)
    listed = await ask(host, "/api/tags", seconds)
    if listed is None:
        return None
    entries = [entry for entry in map(json_object, listed.get("models") or ()) if entry is not None]
    names = tuple(str(entry.get("name", "")) for entry in entries)
    if DEFAULT in names:
        return OllamaFound(host, DEFAULT, models=names)
    for entry in _by_preference(entries):
        if await _takes_tools(host, entry, seconds):
            return OllamaFound(host, str(entry["name"]), models=names)
    why = f"Ollama has no model that can call tools (`ollama pull {DEFAULT}` gets one)"
    return OllamaFound(host, why=why, models=names)


def _rank(entry: dict[str, Any]) -> int:
    name = str(entry.get("name", "")).rsplit("/", 1)[-1]
    return next((n for n, family in enumerate(PREFERRED) if name.startswith(family)), len(PREFERRED))


def _by_preference(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Models of the preferred families, the best first; of one family the largest, but none beyond 10 GB.

    Never one that only looks as if it were here and runs on somebody else's machine.
    """

    here = [
        e
        for e in entries
        if e.get("name") and not e.get("remote_host") and not str(e["name"]).endswith("-cloud")
    ]
    usable = [e for e in here if int(e.get("size") or 0) <= 10e9]
    return sorted(usable, key=lambda e: (_rank(e), -int(e.get("size") or 0)))


async def _takes_tools(url: str, entry: dict[str, Any], seconds: float) -> bool:
    capabilities: Any = entry.get("capabilities")
    if not isinstance(capabilities, list):
        shown = await ask(url, "/api/show", seconds, {"model": entry["name"]})
        capabilities = (shown or {}).get("capabilities")
        if shown is not None and capabilities is None:  # Ollama before 0.6.4 does not tell
            return _rank(entry) < len(PREFERRED)
    return "tools" in (capabilities or ())
