"""What the client set, from `initializationOptions` and `workspace/didChangeConfiguration`.

Keys and defaults are the contract with our extension. API keys are never settings: they come from the
environment, which every run inherits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

_CHOICES: dict[str, tuple[str, ...]] = {
    "approval": ("everyEdit", "whenGreen", "never"),
    "seal": ("require", "prefer", "off"),
    "tests": ("reached", "all"),
    "search": ("on", "off"),
}
_TEXTS = ("interpreter", "run_python", "model", "base_url")
_COUNTS = ("max_steps", "max_tokens", "max_seconds")


@dataclass(frozen=True, slots=True)
class Settings:
    """One consistent set; a run keeps the one it was started with."""

    interpreter: str | None = None
    run_python: str | None = None
    model: str = "auto"
    base_url: str | None = None
    approval: str = "everyEdit"
    seal: str = "require"
    max_steps: int = 12
    max_tokens: int = 60_000
    max_seconds: int = 900
    allow_network: bool = False
    readable_paths: tuple[str, ...] = ()
    tests: str = "reached"
    environment: tuple[str, ...] = ()
    search: str = "on"
    max_cost: float | None = None
    collect: bool = True

    def updated(self, options: Mapping[str, Any]) -> tuple[Settings, list[str]]:
        """These settings with what `options` sets, and a line for every value that cannot be used.

        null means the default. A bad value keeps the setting as it was: it never stops the server.
        """
        changes: dict[str, Any] = {}
        problems: list[str] = []
        defaults = Settings()
        for field in fields(Settings):
            key = _camel(field.name)
            if key not in options:
                continue
            value = options[key]
            if value is None or (value == "" and field.name in _TEXTS):
                changes[field.name] = getattr(defaults, field.name)
            elif problem := _problem(field.name, value):
                problems.append(f"setting regreen.{key} ignored: {problem}, not {value!r}")
            else:
                changes[field.name] = _converted(field.name, value)
        return replace(self, **changes), problems

    def arguments(self) -> list[str]:
        """The options of `regreen fix` that these settings stand for."""
        arguments = ["--model", self.model, "--approval", self.approval, "--seal", self.seal]
        arguments += ["--max-steps", str(self.max_steps), "--max-tokens", str(self.max_tokens)]
        arguments += ["--max-seconds", str(self.max_seconds)]
        if self.max_cost is not None:
            arguments += ["--max-cost", f"{self.max_cost:.6f}".rstrip("0").rstrip(".")]
        if self.base_url:
            arguments += ["--base-url", self.base_url]
        if self.tests != "reached":
            arguments += ["--tests", self.tests]
        if self.search != "on":
            arguments += ["--search", self.search]
        return arguments + self._project()

    def collecting(self) -> list[str]:
        """The options of `regreen tests`. Nobody clicked for it, so it is sealed whatever runs are; only a kept answer of
        the person changes that."""
        return ["--seal", "require", *self._project()]

    def _project(self) -> list[str]:
        arguments = ["--python", self.interpreter] if self.interpreter else []
        if self.allow_network:
            arguments.append("--allow-network")
        arguments += [f"--env={name}" for name in self.environment]
        return arguments + [f"--readable={path}" for path in self.readable_paths]


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _converted(name: str, value: Any) -> Any:
    if name in _COUNTS:
        return int(value)
    return tuple(value) if name in ("readable_paths", "environment") else value


def _problem(name: str, value: Any) -> str:
    """What is expected of the value, or "" when it will do."""
    if name in _CHOICES:
        return "" if value in _CHOICES[name] else f"expected one of {', '.join(_CHOICES[name])}"
    if name in _COUNTS:
        return "" if _above_0(value) and value == int(value) else "expected a whole number above 0"
    if name == "max_cost":
        return "" if _above_0(value) and value >= 0.000001 else "expected an amount of dollars above 0"
    if name in ("allow_network", "collect"):
        return "" if isinstance(value, bool) else "expected true or false"
    if name == "readable_paths":
        return "" if _are_paths(value) else "expected a list of whole paths"
    if name == "environment":
        return "" if _are_names(value) else "expected a list of names of environment variables"
    return "" if isinstance(value, str) and not value.startswith("-") else "expected a text"


def _above_0(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and value > 0


def _are_names(value: Any) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    items = cast("list[Any]", value)
    return all(isinstance(item, str) and item.isidentifier() for item in items)


def _are_paths(value: Any) -> bool:
    """Whole paths only: the folder of the workspace must not decide what a short one means."""
    if not isinstance(value, (list, tuple)):
        return False
    items = cast("list[Any]", value)
    return all(isinstance(item, str) and (item.startswith("~") or Path(item).is_absolute()) for item in items)
