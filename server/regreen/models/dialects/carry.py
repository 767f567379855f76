"""Calls made ready to be carried out: mapped, their paths made plain, their text repaired, their effect checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from regreen.agent.conversation import ToolCall
from regreen.models.dialects import arguments, blocks, checks, corrective, damaged, edits, paths, shell
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.python_text import fragment_parses, is_python
from regreen.models.dialects.reading import Asked, Fault, as_mapping

_MOST_CALLS = 40


@dataclass(slots=True)
class Carried:
    """The calls of a reply that can be carried out, and what is wrong with the others."""

    calls: list[ToolCall]
    faults: list[Fault]


def carry(asked: Sequence[Asked], scene: Scene, tests_locked: bool) -> Carried:
    """Every call mapped, repaired and checked, in order; identical ones once."""
    done = Carried([], [])
    current = dict(scene.files)
    seen: set[str] = set()
    for one in asked[:_MOST_CALLS]:
        now = replace(scene, files=current)
        fitted = arguments.fit(one, now)
        if isinstance(fitted, Fault):
            done.faults.append(fitted)
            continue
        for call in fitted:
            for outcome in _finished(call, replace(scene, files=current), tests_locked):
                if isinstance(outcome, Fault):
                    done.faults.append(outcome)
                    continue
                key = f"{outcome.name} {sorted(outcome.arguments.items(), key=str)}"
                if key in seen:
                    continue
                seen.add(key)
                done.calls.append(outcome)
                _apply(outcome, current)
    if not done.calls and not done.faults:
        done.faults.append(scene.fault("blank", "No tool was called."))
    return done


def _apply(call: ToolCall, current: dict[str, str]) -> None:
    """Keep the texts in step, so that a second edit in the same reply is seen against the first."""
    path = str(call.arguments.get("path", ""))
    if call.name == "write_file":
        current[path] = str(call.arguments["content"])
    elif call.name == "edit_file" and path in current:
        find, new = str(call.arguments["find"]), str(call.arguments["replace"])
        current[path] = current[path].replace("\r\n", "\n").replace(find, new, 1)


def _finished(asked: Asked, scene: Scene, tests_locked: bool) -> list[ToolCall | Fault]:
    """A call with real names: its path made plain, its text repaired, its effect checked."""
    given = dict(as_mapping(asked.arguments))
    if "path" in given and (fault := _with_path(asked.name, given, scene)):
        return [fault]
    if asked.name == "write_file":
        if inner := _edits_as_content(given, scene):
            return _expanded(inner, scene, tests_locked)
        content = damaged.repaired_file(given["path"], given["content"])
        given["content"] = content.rstrip("\n") + "\n" if content.strip() else content
        fault = checks.check_write(given, scene, tests_locked)
    elif asked.name == "edit_file":
        if inner := _edits_as_find(given, scene):
            return _expanded(inner, scene, tests_locked)
        fault = _edit(given, asked, scene, tests_locked)
    else:
        if asked.name == "run_python":
            given["code"] = damaged.repaired_file("code.py", given["code"])
        fault = None
    return [fault or ToolCall(asked.name, given, asked.id)]


def _expanded(inner: list[Asked] | Fault, scene: Scene, tests_locked: bool) -> list[ToolCall | Fault]:
    if isinstance(inner, Fault):
        return [inner]
    return [outcome for one in inner for outcome in _finished(one, scene, tests_locked)]


def _with_path(tool: str, given: dict[str, Any], scene: Scene) -> Fault | None:
    """Put the plain path in; the fault when it is a placeholder or outside."""
    written = str(given["path"])
    node = ""
    if tool == "run_tests":
        if " " in written.strip() and (
            words := [one for one in shell.words_of(written) if re.search(r"[/.]py|\.py|/", one)]
        ):
            written = words[0]
        written, separator, rest = written.partition("::")
        node = separator + rest.strip()
    elif written.endswith(")") or "::" in written:
        written = written.partition("::")[0]
    if tool in ("run_tests", "list_files", "search_files"):
        if "*" in written or "?" in written:  # a pattern: its folder
            written = re.sub(r"(?:^|/)[^/]*[*?].*$", "", written)
        if written.strip().lower() in ("/", "all", "/workspace", "/app", "/repo", "/project", "/testbed"):
            written = ""
    path = paths.clean(written, scene.files)
    if path.problem == "empty" or not path.text:
        if tool in ("edit_file", "write_file", "read_file"):
            return corrective.missing(scene, tool, ["path"], scene.next_call())
        del given["path"]
        return None
    if path.problem:
        return _bad_path(tool, path, given, scene)
    given["path"] = path.text + node
    if tool == "read_file" and path.first is not None and "start_line" not in given:
        given["start_line"] = path.first
        if path.last is not None and "end_line" not in given:
            given["end_line"] = path.last
    return None


def _bad_path(tool: str, path: paths.Path, given: dict[str, Any], scene: Scene) -> Fault:
    real = [name for name in scene.files if is_python(name)] or list(scene.files)
    listed = f" The files in play are: {', '.join(real[:12])}." if real else ""
    closest = path.closest or (real[0] if len(real) == 1 else "")
    others = {
        key: corrective.shortened(str(value))
        for key, value in given.items()
        if key in ("find", "replace", "content")
    }
    example = corrective.call(tool, path=closest, **others) if closest else scene.next_call()
    if closest and any(checks.is_placeholder(value, closest) for value in others.values()):
        example = scene.edit_call(closest)
    if path.problem == "placeholder":
        wrong = f"The path {corrective.quoted(path.text, 80)} is a placeholder from documentation, not a real file.{listed}"
        if not real:
            wrong += " list_files shows the real files of the workspace."
            example = corrective.call("list_files") if "list_files" in scene.tools.specs else example
        return scene.fault("bad_path", wrong, example)
    near = f" The closest path inside is '{closest}'." if closest else ""
    return scene.fault(
        "bad_path",
        f"The path {corrective.quoted(path.text, 120)} is outside the workspace.{near} Use paths relative to the workspace.{listed}",
        example,
    )


def _edits_as_content(given: dict[str, Any], scene: Scene) -> list[Asked] | Fault | None:
    """Search/replace blocks, a diff or a patch written as the text of a file."""
    content, path = str(given["content"]), str(given["path"])
    if path.lower().endswith((".md", ".markdown", ".rst", ".diff", ".patch", ".txt")):
        return None
    text = re.sub(r"^\s*```\w*\n", "", content.lstrip("\n"))
    if edits.first("\n".join(text.split("\n")[:4])) < 0:
        return None
    return edits.read(text, scene, path) or None


def _edits_as_find(given: dict[str, Any], scene: Scene) -> list[Asked] | Fault | None:
    """A whole search/replace block inside `find` or `replace`; not a conflict of two versions that the file holds."""
    held = scene.files.get(str(given["path"]), "").replace("\r\n", "\n")
    if str(given["find"]).strip() and str(given["find"]) in held:
        return None
    for key, other in (("find", "replace"), ("replace", "find")):
        text = str(given[key])
        if str(given[other]).strip() and blocks.CONFLICT.search(text):
            continue
        if edits.looks_like(text) and re.search(
            r"^[ \t]*(?:={5,9}[ \t]*|@@.*|\*{3} .*)$", text, re.MULTILINE
        ):
            outcome = edits.read(text, scene, str(given["path"]))
            if outcome and not isinstance(outcome, Fault):
                return outcome
    return None


def _edit(given: dict[str, Any], asked: Asked, scene: Scene, tests_locked: bool) -> Fault | None:
    path = str(given["path"])
    text = scene.files.get(path, "").replace("\r\n", "\n")
    find, new = str(given["find"]), damaged.without_markers(path, str(given["replace"]), text)
    if not (text and find in text):
        find = damaged.without_markers(path, find, text)
    if not (text and find in text):
        find = damaged.repaired_fragment(path, find)
    new = damaged.repaired_fragment(path, new)
    if asked.guessed and is_python(path) and not (fragment_parses(find) and fragment_parses(new)):
        return corrective.ambiguous(scene, find, scene.edit_call(path))
    given["find"], given["replace"] = find, new
    return checks.check_edit(given, scene, tests_locked)
