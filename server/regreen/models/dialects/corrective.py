"""The texts that go back to a model: the one thing wrong, the real data, one filled-in call.

Small models repeat a form they are shown and give up at a bare "not found", so every text ends with a whole call.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regreen.models.dialects import paths
from regreen.models.dialects.names import Toolset
from regreen.models.dialects.reading import Fault, Reason

_LONGEST_QUOTE = 160


@dataclass(frozen=True, slots=True)
class Scene:
    """What a corrective may draw on: the tools, the files in play, and what the reply itself said."""

    tools: Toolset
    files: Mapping[str, str]
    said: str = ""

    def mentioned(self) -> list[str]:
        """The paths that the reply itself speaks of."""
        return paths.mentions(self.said, self.files)

    def path(self) -> str:
        """The file the model most likely means; "" when none is known."""
        return next(iter(self.mentioned()), "") or next(iter(self.files), "")

    def fault(self, reason: Reason, wrong: str, example: str = "") -> Fault:
        """A corrective made of the sentence(s) that say what is wrong and one filled-in call."""
        return Fault(reason, f"{wrong.strip()}\n{self.like(example)}")

    def like(self, example: str = "") -> str:
        """The line that shows one call; without an example, the next sensible one."""
        example = example or self.next_call()
        hint = " (replace holds the corrected text)" if '"edit_file"' in example else ""
        return f"Answer with exactly one call, for example{hint}:\n{example}"

    def next_call(self, path: str = "") -> str:
        """A call that is always right: read the file meant, else list the files."""
        path = path or self.path()
        if path and "read_file" in self.tools.specs:
            return call("read_file", path=path)
        return call("run_tests" if "list_files" not in self.tools.specs else "list_files")

    def edit_call(self, path: str = "", find: str = "", replace: str = "") -> str:
        """An edit filled in with real lines: those of the call, else one line of the file in play."""
        path = path or self.path()
        if not path:
            return self.next_call()
        if not find:
            find = _a_line(self.files.get(path, ""))
        if not find:
            return self.next_call(path)
        return call("edit_file", path=path, find=shortened(find), replace=shortened(replace or find))


def call(name: str, /, **arguments: Any) -> str:
    """A call in the shape every model reads: one line of JSON."""
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def quoted(text: str, limit: int = _LONGEST_QUOTE) -> str:
    """Text for a sentence, in quotes; when it is long, its start and how much is left out."""
    text = text.strip("\n")
    if len(text) > limit:
        return f"'{text[:limit]}' (and {len(text) - limit} more characters)"
    return f"'{text}'"


def shortened(text: str) -> str:
    """Text for an example call: its first lines only, whole."""
    lines = text.strip("\n").split("\n")
    kept = lines[0]
    for line in lines[1:4]:
        if len(kept) + len(line) > _LONGEST_QUOTE:
            break
        kept += "\n" + line
    return kept[: 2 * _LONGEST_QUOTE]


@functools.lru_cache(maxsize=8)
def _a_line(text: str) -> str:
    """A line of the file that occurs once, the last `return` or assignment by preference."""
    lines = [line.strip() for line in text.split("\n")]
    times = Counter(lines)
    once = [line for line in lines if 8 <= len(line) <= 90 and times[line] == 1][:200]
    telling = [line for line in once if re.match(r"return\b|\w+(?:\.\w+)* [+*/-]?= ", line)]
    return (telling or once or [""])[-1]


def no_such_tool(scene: Scene, written: str, example: str) -> Fault:
    """The name is no tool and stands for none."""
    name = quoted(written.strip(), 60)
    return scene.fault(
        "unknown_tool", f"There is no tool {name}. The tools are: {scene.tools.names()}.", example
    )


def no_name(scene: Scene, values: Mapping[str, object]) -> Fault:
    """Arguments that do not tell which tool they are for."""
    shown = quoted(str(values), 100)
    wrong = f"The arguments {shown} came without a tool name, so nothing was run. The tools are: {scene.tools.names()}."
    return scene.fault("unknown_tool", wrong)


def leaked_name(scene: Scene, written: str) -> Fault:
    """A control token stands where the name belongs."""
    return scene.fault(
        "unknown_tool",
        f"The tool name {quoted(written, 60)} is a control token, not a tool, so nothing was run."
        f" The tools are: {scene.tools.names()}.",
    )


def no_shell(scene: Scene, written: str, command: str, instead: tuple[str, dict[str, Any]] | None) -> Fault:
    """A shell was asked for; `instead` is the tool that does what the command would."""
    start = (
        f"There is no {written} tool and no shell" if written else "No tool is named, and there is no shell"
    )
    said = f" for {quoted(command, 100)}" if command else ""
    if instead is None or instead[0] not in scene.tools.specs:
        return scene.fault("unknown_tool", f"{start}{said}. The tools are: {scene.tools.names()}.")
    name, arguments = instead
    with_path = f" with path '{arguments['path']}'" if "path" in arguments else ""
    wrong = f"{start}{said}. The tools are: {scene.tools.names()}. {name}{with_path} does this."
    if name in ("edit_file", "write_file"):
        return scene.fault("unknown_tool", wrong, scene.edit_call(str(arguments.get("path", ""))))
    return scene.fault("unknown_tool", wrong, call(name, **arguments))


def cut(scene: Scene, where: str, path: str = "") -> Fault:
    """The reply ended in the middle of a call; nothing of it may run."""
    return scene.fault(
        "cut_off",
        f"The reply was cut off: it stopped {where}, so nothing was run and nothing was written."
        " Do not send the same again; make the change smaller: edit_file with only the lines that differ.",
        scene.edit_call(path),
    )


def ambiguous(scene: Scene, around: str, example: str) -> Fault:
    """Quotes inside strings leave more than one reading."""
    return scene.fault(
        "bad_json",
        f"The quotes in {quoted(around, 80)} can be read in more than one way, because a quote of the same kind"
        " stands inside the text, so nothing was run. Send the same call as strict JSON: double quotes around"
        ' every string, and \\" for a double quote inside.',
        example,
    )


def broken(scene: Scene, around: str, example: str) -> Fault:
    """No JSON, even read leniently."""
    return scene.fault(
        "bad_json",
        f"The call cannot be read as JSON near {quoted(around, 80)}, so nothing was run. Send it as strict JSON.",
        example,
    )


def several_dividers(scene: Scene, count: int, path: str) -> Fault:
    """A search/replace block whose own divider cannot be told from its text."""
    return scene.fault(
        "bad_arguments",
        f"{count} lines of the SEARCH/REPLACE block{f' for {quoted(path)}' if path else ''} are made of equal signs, and any of them"
        " may be the one between SEARCH and REPLACE, so nothing was changed. Send the edit as a call, or leave the lines"
        " of equal signs out of the block.",
        scene.edit_call(path),
    )


def missing(scene: Scene, tool: str, names: Sequence[str], example: str, hint: str = "") -> Fault:
    """Required arguments are not there."""
    listed = " and ".join(names)
    verb = "is" if len(names) == 1 else "are"
    return scene.fault("bad_arguments", f"{tool} was not run: {listed} {verb} missing.{hint}", example)
