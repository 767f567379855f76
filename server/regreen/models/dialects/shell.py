"""What a shell command would do, as one of our tools: there is no shell, and the model should hear which tool fits."""

from __future__ import annotations

import re
import shlex
from typing import Any

from regreen.models.dialects.reading import as_list


def words_of(command: object) -> list[str]:
    """The words of a command given as text or as a list; `bash -lc "…"` is opened."""
    parts = [str(part) for part in as_list(command)]
    if not parts:
        text = str(command)[:2000]
        try:
            parts = shlex.split(text, comments=False)
        except ValueError:
            parts = text.split()
    if len(parts) >= 3 and parts[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") and parts[1].startswith("-"):
        return words_of(parts[2])
    return parts


def as_tool(command: object) -> tuple[str, dict[str, Any]] | None:
    """The tool and arguments that do what the command does; None when no tool does."""
    words = words_of(command)
    while words and (
        re.fullmatch(r"\w+=\S*", words[0]) or words[0] in ("sudo", "time", "env", "uv", "poetry", "run")
    ):
        words = words[1:]
    while "&&" in words and words[0] == "cd":
        words = words[words.index("&&") + 1 :]
    if not words:
        return None
    for stop in ("|", "&&", ";", "||"):
        if stop in words:
            words = words[: words.index(stop)]
    name = words[0].rsplit("/", 1)[-1] if words else ""
    rest = [word.rstrip(";") for word in words[1:]]
    plain = [word for word in rest if not word.startswith("-") and word not in (">", ">>", "<", "<<")]
    paths = [word for word in plain if re.search(r"[/.]", word) and not re.fullmatch(r"[\d,p.]+", word)]
    if name in ("python", "python3", "py") and rest[:2] == ["-m", "pytest"]:
        name, rest, plain, paths = "pytest", rest[2:], plain[1:], [word for word in paths if word != "pytest"]
    return _by_name(name, rest, plain, paths)


def _by_name(
    name: str, rest: list[str], plain: list[str], paths: list[str]
) -> tuple[str, dict[str, Any]] | None:
    if name in ("cat", "echo", "printf", "tee") and ({">", ">>", "<<"} & set(rest) or name == "tee"):
        return ("write_file", {"path": paths[-1]}) if paths else ("write_file", {})
    if name == "sed" and any(word.startswith("-i") for word in rest):
        return ("edit_file", {"path": paths[-1]}) if paths else ("edit_file", {})
    if name in (
        "cat",
        "head",
        "tail",
        "less",
        "more",
        "nl",
        "bat",
        "type",
        "sed",
        "awk",
        "wc",
        "vim",
        "nano",
        "open",
    ):
        return ("read_file", {"path": paths[-1]}) if paths else None
    if name in ("ls", "dir", "tree", "find", "fd"):
        return ("list_files", {"path": plain[0]}) if plain and plain[0] != "." else ("list_files", {})
    if name in ("grep", "rg", "ag", "ack"):
        place = {"path": plain[1]} if len(plain) > 1 and plain[1] != "." else {}
        return ("search_files", {"pattern": plain[0], **place}) if plain else None
    if name in ("pytest", "py.test", "tox", "nosetests", "unittest"):
        return ("run_tests", {"path": paths[0]}) if paths else ("run_tests", {})
    if name in ("touch", "mkdir"):
        return ("write_file", {"path": plain[0]}) if plain and name == "touch" else None
    if name in ("python", "python3", "py") and "-m" in rest and "unittest" in rest:
        return ("run_tests", {})
    if name in ("python", "python3", "py") and "-c" in rest:
        return ("run_python", {"code": rest[-1]})
    return None
