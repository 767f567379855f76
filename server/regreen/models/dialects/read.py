"""The whole way from a reply to calls: wire, text, names, arguments, paths, damaged text, and what must not run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from regreen.agent.conversation import ToolCall, ToolSpec
from regreen.models.dialects import (
    arguments,
    checks,
    corrective,
    damaged,
    edits,
    fences,
    fit,
    paths,
    scan,
    shell,
    spoken,
    thoughts,
    wire,
)
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.names import Toolset
from regreen.models.dialects.python_text import fragment_parses, is_python
from regreen.models.dialects.reading import Asked, Fault, Reading, Spoken, as_mapping

_HARMLESS = frozenset(("read_file", "list_files", "search_files", "run_tests"))
_CUT_SHORT = frozenset(("length", "max_tokens", "max_output_tokens", "model_length", "token_limit", "incomplete"))
_ENDED = frozenset(("stop", "tool_calls", "end_turn", "eos", "stop_sequence", "function_call"))
_MOST_CALLS = 40


@dataclass(slots=True)
class _Carried:
    """The calls of a reply that can be carried out, and what is wrong with the others."""

    calls: list[ToolCall]
    faults: list[Fault]


def read(
    message: Mapping[str, Any],
    tools: Sequence[ToolSpec],
    files: Mapping[str, str],
    wire_name: str,
    tests_locked: bool,
) -> Reading:
    """As `read_reply`, but an error of our own comes out as the exception it is."""
    toolset = Toolset(tools)
    said = wire.unwrap(message, toolset, wire_name)
    if said.fault:
        return Reading(corrective=said.fault.text, reason=said.fault.reason, thinking=said.thinking)
    mentioned = paths.mentions(said.text, files) or paths.mentions(said.thinking, files)
    scene = Scene(toolset, files, mentioned)
    if said.finish.lower() in _CUT_SHORT:
        return _cut_short(said, scene)
    if said.native:
        text = _outside_thoughts(said.text, scene)
        return _reading(_carry(said.native, scene, tests_locked), text, said.thinking)
    if not said.text.strip():
        return _without_text(said, scene, tests_locked)
    return _from_text(said, scene, tests_locked)


def _reading(carried: _Carried, text: str, thinking: str) -> Reading:
    if carried.calls:
        note = carried.faults[0].text if carried.faults else ""
        return Reading(text, tuple(carried.calls), note=note, thinking=thinking)
    fault = carried.faults[0]
    return Reading(text, corrective=fault.text, reason=fault.reason, thinking=thinking)


def _failed(fault: Fault, text: str = "", thinking: str = "") -> Reading:
    return Reading(text, corrective=fault.text, reason=fault.reason, thinking=thinking)


# replies without usable text


def _cut_short(said: Spoken, scene: Scene) -> Reading:
    """The output limit ended the reply: nothing of it runs, however whole it looks."""
    if said.native:
        last = said.native[-1]
        named = scene.tools.resolve(last.name)
        where = f"in the arguments of {named.tool or named.plain or 'the call'}"
        given = arguments.unpacked(last.arguments, scene, named.tool)
        path = str(given[0].get("path", "")) if isinstance(given, list) and given else ""
        required = list(scene.tools.specs[named.tool].parameters.get("required", ())) if named.tool else []
        if isinstance(given, list) and not any(given) and required:
            where += f" ({' and '.join(required)} never arrived)"
    elif said.text.strip():
        tail = said.text.strip()[-60:]
        where, path = f"after {corrective.quoted(tail, 60)}", ""
    else:
        return _failed(
            scene.fault(
                "cut_off",
                "The output limit was reached inside the thinking, before any answer, so nothing was run. Think less: answer at once.",
            ),
            thinking=said.thinking,
        )
    fault = corrective.cut(scene, f"{where}, at the output limit (finish reason length)", path)
    return _failed(fault, thinking=said.thinking)


def _without_text(said: Spoken, scene: Scene, tests_locked: bool) -> Reading:
    """Blank content: a call may stand in the thinking; else the server dropped it, or nothing was said."""
    if said.thinking.strip():
        if carried := _from_thoughts(said.thinking, scene, tests_locked):
            return _reading(carried, "", said.thinking)
        return _failed(
            scene.fault(
                "thinking_only",
                "Only reasoning came: no text and no call, so nothing happened. Reasoning is not carried out; answer with one call.",
            ),
            thinking=said.thinking,
        )
    if said.generated > 0:
        return _failed(
            scene.fault(
                "swallowed",
                f"{said.generated} tokens were generated but nothing is visible: the server dropped a call that it could not"
                " parse. Write the call again, as strict JSON with a known tool name.",
            )
        )
    return _failed(scene.fault("blank", "The answer was blank: nothing was said and no tool was called."))


def _from_thoughts(thinking: str, scene: Scene, tests_locked: bool) -> _Carried | None:
    """The calls inside finished thinking, when nothing else came: harmless ones all, a changing one only alone."""
    found = scan.scan(thinking, scene)
    if found.cut or found.unfinished_thought or not found.calls:
        return None
    carried = _carry([asked for _, _, asked in found.calls], scene, tests_locked)
    if len(carried.calls) > 1 and any(call.name not in _HARMLESS for call in carried.calls):
        return None
    return carried if carried.calls else None


# replies in text


def _outside_thoughts(text: str, scene: Scene) -> str:
    if "<" not in text and "[" not in text:
        return text.strip()
    return _prose(text, scan.scan(text, scene), [])


def _prose(text: str, found: scan.Scan, blocks: list[scan.Block]) -> str:
    """What is left of the text when calls, thoughts and used code blocks are taken out."""
    spans = [(start, end) for start, end, _ in found.calls] + found.skipped
    spans += [(one.start, one.end) for one in blocks]
    kept: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if start > at:
            kept.append(text[at:start])
        at = max(at, end)
    kept.append(text[at : max(at, found.end)])
    return thoughts.prose("".join(kept))


def _from_text(said: Spoken, scene: Scene, tests_locked: bool) -> Reading:
    text = said.text.replace("\r\n", "\n")
    found = scan.scan(text, scene)
    thinking = said.thinking or "\n".join(found.thoughts).strip()
    prose = _prose(text, found, [])
    if found.cut:
        fault = next(one for one in found.faults if one.reason == "cut_off")
        return _failed(fault, prose, thinking)
    if found.calls:
        return _reading(_carry([asked for _, _, asked in found.calls], scene, tests_locked), prose, thinking)
    if found.faults:
        return _failed(found.faults[0], prose, thinking)
    if found.blocks and (reading := _from_blocks(text, found, scene, said.finish, thinking, tests_locked)):
        return reading
    if found.unfinished_thought:
        return _failed(
            scene.fault(
                "thinking_only",
                "Only unfinished thinking arrived, and nothing inside it is run. Think less, and answer with one call.",
            ),
            thinking=thinking,
        )
    if not prose.strip() and not found.blocks and not found.marker and found.thoughts:
        return _without_text(Spoken(thinking=thinking), scene, tests_locked)
    commands = next((one.code for one in found.blocks if one.language in scan.SHELL_LANGUAGES), "")
    code = next((one.code for one in found.blocks if one.language not in scan.SHELL_LANGUAGES), "")
    words = _prose(text, found, found.blocks)
    return _failed(spoken.answer(words, scene, found.invented, found.marker, commands, code), prose, thinking)


def _from_blocks(
    text: str, found: scan.Scan, scene: Scene, finish: str, thinking: str, tests_locked: bool
) -> Reading | None:
    """Code blocks as edits of the files in play; the first block that says something about a function counts."""
    asked: list[Asked] = []
    fault: Fault | None = None
    used: list[scan.Block] = []
    for block in found.blocks:
        if block.language in scan.SHELL_LANGUAGES:
            continue
        name = edits.name_before(text, block.start)
        outcome = fences.splice(block.code, scene, name)
        if outcome is None and name and is_python(name) and not scene.files and len(found.blocks) == 1:
            if block.code.strip() and _named_alone(text, block.start, name):
                outcome = [Asked("write_file", {"path": name, "content": block.code})]
        if outcome is None:
            continue
        if not block.closed and finish.lower() not in _ENDED:
            return _failed(corrective.cut(scene, "inside the code block, which has no end", name), "", thinking)
        if isinstance(outcome, Fault):
            fault = fault or outcome
            continue
        used.append(block)
        known = {(str(as_mapping(one.arguments).get("path")), _target(one)) for one in asked}
        asked += [one for one in outcome if (str(as_mapping(one.arguments).get("path")), _target(one)) not in known]
    prose = _prose(text, found, used)
    if asked:
        return _reading(_carry(asked, scene, tests_locked), prose, thinking)
    return _failed(fault, prose, thinking) if fault else None


def _target(asked: Asked) -> str:
    return str(as_mapping(asked.arguments).get("find", ""))


def _named_alone(text: str, at: int, name: str) -> bool:
    """Whether the line above an offset is a file name and nothing else."""
    above = text[:at].rstrip().rsplit("\n", 1)[-1]
    return above.strip(" *`#:\"'").removeprefix("File: ").removeprefix("file: ").strip(" *`") == name


# calls


def _carry(asked: Sequence[Asked], scene: Scene, tests_locked: bool) -> _Carried:
    """Every call mapped, repaired and checked, in order; identical ones once."""
    done = _Carried([], [])
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
        if " " in written.strip() and (words := [one for one in shell.words_of(written) if re.search(r"[/.]py|\.py|/", one)]):
            written = words[0]
        written, separator, rest = written.partition("::")
        node = separator + rest.strip()
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
    others = {key: corrective.shortened(str(value)) for key, value in given.items() if key in ("find", "replace", "content")}
    example = corrective.call(tool, path=closest, **others) if closest else scene.next_call()
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
    """A whole search/replace block inside `find` or `replace`."""
    for key in ("find", "replace"):
        text = str(given[key])
        if edits.looks_like(text) and re.search(r"^[ \t]*(?:={5,9}[ \t]*|@@.*|\*{3} .*)$", text, re.MULTILINE):
            outcome = edits.read(text, scene, str(given["path"]))
            if outcome and not isinstance(outcome, Fault):
                return outcome
    return None


def _edit(given: dict[str, Any], asked: Asked, scene: Scene, tests_locked: bool) -> Fault | None:
    path = str(given["path"])
    text = scene.files.get(path, "").replace("\r\n", "\n")
    find, new = damaged.without_markers(str(given["find"])), damaged.without_markers(str(given["replace"]))
    if not (text and find in text):
        find = damaged.repaired_fragment(path, find)
    new = damaged.repaired_fragment(path, new)
    if asked.guessed and is_python(path) and not (fragment_parses(find) and fragment_parses(new)):
        return corrective.ambiguous(scene, find, scene.edit_call(path))
    given["find"], given["replace"] = find, new
    if fault := checks.check_edit(given, scene, tests_locked):
        return fault
    if not text:
        return None
    outcome = fit.fit(path, text, find, new, scene)
    if isinstance(outcome, Fault):
        return outcome
    given["find"], given["replace"] = outcome.find, outcome.replace
    if outcome.find == outcome.replace:
        return scene.fault("no_op", f"'{path}' already reads so; the edit would change nothing.", scene.edit_call(path))
    return None
