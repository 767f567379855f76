"""The whole way from a reply to calls: wire, text, names, arguments, paths, damaged text, and what must not run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from regreen.agent.conversation import ToolSpec
from regreen.models.dialects import (
    corrective,
    edits,
    fences,
    openings,
    packing,
    plain,
    scan,
    spoken,
    thoughts,
    wire,
)
from regreen.models.dialects.carry import Carried, carry
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.names import Toolset
from regreen.models.dialects.python_text import is_python
from regreen.models.dialects.reading import Asked, Fault, Reading, Spoken, as_mapping

_HARMLESS = frozenset(("read_file", "list_files", "search_files", "run_tests"))
_CUT_SHORT = frozenset(
    ("length", "max_tokens", "max_output_tokens", "model_length", "token_limit", "incomplete")
)
_ENDED = frozenset(("stop", "tool_calls", "end_turn", "eos", "stop_sequence", "function_call"))

_OLD = re.compile(
    r"\b(?:search|find|replace|change|this|old|before|from|original|current|instead of|the lines?)\b[^\n]*\s*\Z",
    re.IGNORECASE,
)
_NEW = re.compile(
    r"\b(?:to this|to|with|by|into|replace|new|after|becomes?|should be|fixed|corrected|updated)\b[^\n]{0,40}\s*\Z",
    re.IGNORECASE,
)
_NOT_NEW = re.compile(
    r"\b(?:leads?|results?|returns?|gives?|outputs?|prints?|errors?|fails?|raises?|shows?|see|because|due)\b",
    re.IGNORECASE,
)
"""What stands above the first and between the two of a pair of code blocks that say what becomes what."""


def read_unguarded(
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
    text, thinking = thoughts.without_loop(said.text), thoughts.without_loop(said.thinking)
    if not said.native and (text, thinking) != (said.text, said.thinking):
        brief = replace(said, text=text, thinking=thinking)
        reading = _read(brief, toolset, files, tests_locked)
        if not reading.calls:
            return replace(reading, thinking=said.thinking or reading.thinking)
    return _read(said, toolset, files, tests_locked)


def _read(said: Spoken, toolset: Toolset, files: Mapping[str, str], tests_locked: bool) -> Reading:
    scene = Scene(toolset, files, f"{said.text}\n{said.thinking}")
    if said.finish.lower() in _CUT_SHORT:
        return _cut_short(said, scene)
    if said.native:
        text = _outside_thoughts(said.text, scene)
        return _reading(carry(said.native, scene, tests_locked), text, said.thinking)
    if not said.text.strip():
        return _without_text(said, scene, tests_locked)
    return _from_text(said, scene, tests_locked)


def _reading(carried: Carried, text: str, thinking: str) -> Reading:
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
        given = packing.unpacked(last.arguments, scene, named.tool)
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
        ended = said.finish.lower() in _ENDED
        if carried := _from_thoughts(said.thinking, scene, tests_locked, ended):
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


def _from_thoughts(thinking: str, scene: Scene, tests_locked: bool, ended: bool) -> Carried | None:
    """The calls inside finished thinking, when nothing else came: harmless ones all; one that changes a file only
    alone, and only when the server said that the reply had ended."""
    found = scan.scan(thinking, scene)
    if found.cut or found.unfinished_thought or not found.calls:
        return None
    carried = carry([asked for _, _, asked in found.calls], scene, tests_locked)
    changing = any(call.name not in _HARMLESS for call in carried.calls)
    if changing and (len(carried.calls) > 1 or not ended):
        return None
    return carried if carried.calls else None


# replies in text


def _outside_thoughts(text: str, scene: Scene) -> str:
    if "<" not in text and "[" not in text:
        return text.strip()
    return _prose(text, scan.scan(text, scene), [])


def _prose(text: str, found: openings.Scan, blocks: list[openings.Block]) -> str:
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
    found = scan.scan(text, scene, said.finish.lower() in _ENDED)
    thinking = said.thinking or "\n".join(found.thoughts).strip()
    prose = _prose(text, found, [])
    if found.cut:
        return _failed(found.cut, prose, thinking)
    if found.calls:
        return _reading(carry([asked for _, _, asked in found.calls], scene, tests_locked), prose, thinking)
    if found.faults:
        return _failed(found.faults[0][1], prose, thinking)
    if found.blocks and (reading := _from_blocks(text, found, scene, said.finish, thinking, tests_locked)):
        return reading
    if not found.blocks and scene.files and said.finish.lower() in _ENDED and (bare := _bare_code(prose)):
        outcome = fences.splice(bare, scene)
        if outcome and not isinstance(outcome, Fault):
            return _reading(carry(outcome, scene, tests_locked), prose.removesuffix(bare).strip(), thinking)
    if not found.blocks and not found.unfinished_thought and not found.invented:
        if once := plain.decoded(text):
            return _from_text(replace(said, text=once), scene, tests_locked)
        if asked := plain.read(prose, scene):
            return _reading(carry(asked, scene, tests_locked), "", thinking)
    if found.unfinished_thought:
        return _failed(
            scene.fault(
                "thinking_only",
                "Only unfinished thinking arrived, and nothing inside it is run. Think less, and answer with one call.",
            ),
            thinking=thinking,
        )
    if not prose.strip() and not found.blocks and not found.marker and found.thoughts:
        return _without_text(Spoken(thinking=thinking, finish=said.finish), scene, tests_locked)
    commands = next((one.code for one in found.blocks if one.language in openings.SHELL_LANGUAGES), "")
    code = next((one.code for one in found.blocks if one.language not in openings.SHELL_LANGUAGES), "")
    words = _prose(text, found, found.blocks)
    return _failed(spoken.answer(words, scene, found.invented, found.marker, commands, code), prose, thinking)


def _bare_code(text: str) -> str:
    """The code at the end of a reply that forgot its fence: from the first `def`, decorator or class on; "" without one."""
    found = re.search(r"^[ \t]*(?:@\w|(?:async )?def \w|class \w)", text, re.MULTILINE)
    return text[found.start() :] if found else ""


def _from_blocks(
    text: str, found: openings.Scan, scene: Scene, finish: str, thinking: str, tests_locked: bool
) -> Reading | None:
    """Code blocks as edits of the files in play; the first block that says something about a function counts."""
    asked: list[Asked] = []
    fault: Fault | None = None
    used: list[openings.Block] = []
    # A loop shows the same block again and again.
    read: dict[tuple[str, str], list[Asked] | Fault | None] = {}
    known: set[tuple[str, str]] = set()
    for block in found.blocks:
        if block.language in openings.SHELL_LANGUAGES:
            continue
        name = block.name or edits.name_before(text, block.start)
        if (block.code, name) not in read:
            read[block.code, name] = fences.splice(block.code, scene, name)
        outcome = read[block.code, name]
        alone = is_python(name) and not scene.files and len(found.blocks) == 1 and bool(block.code.strip())
        if outcome is None and alone and (block.name or _named_alone(text, block.start, name)):
            outcome = [Asked("write_file", {"path": name, "content": block.code})]
        if outcome is None:
            continue
        if not block.closed and finish.lower() not in _ENDED:
            return _failed(
                corrective.cut(scene, "inside the code block, which has no end", name), "", thinking
            )
        if isinstance(outcome, Fault):
            fault = fault or outcome
            continue
        used.append(block)
        asked += [one for one in outcome if _place(one) not in known]
        known.update(map(_place, outcome))
    if not asked and (pair := _old_and_new(text, found.blocks, scene)):
        asked, used = [pair], found.blocks
    prose = _prose(text, found, used)
    if asked:
        return _reading(carry(asked, scene, tests_locked), prose, thinking)
    return _failed(fault, prose, thinking) if fault else None


def _old_and_new(text: str, blocks: list[openings.Block], scene: Scene) -> Asked | None:
    """`Change this: … to this: …`: two blocks, the first of which stands once in one file, as the words around them say."""
    if len(blocks) != 2 or not all(one.closed for one in blocks):
        return None
    old, new = (one.code.strip("\n") for one in blocks)
    before, between = text[: blocks[0].start][-200:], text[blocks[0].end : blocks[1].start]
    held = [
        path
        for path, whole in scene.files.items()
        if old.strip() and whole.replace("\r\n", "\n").count(old) == 1
    ]
    said = _OLD.search(before) and _NEW.search(between) and not _NOT_NEW.search(between)
    if len(held) != 1 or old == new or len(between) > 200 or not said:
        return None
    return Asked("edit_file", {"path": held[0], "find": old, "replace": new})


def _place(asked: Asked) -> tuple[str, str]:
    given = as_mapping(asked.arguments)
    return str(given.get("path")), str(given.get("find", ""))


def _named_alone(text: str, at: int, name: str) -> bool:
    """Whether the line above an offset is a file name and nothing else."""
    above = text[:at].rstrip().rsplit("\n", 1)[-1]
    return above.strip(" *`#:\"'").removeprefix("File: ").removeprefix("file: ").strip(" *`") == name
