"""Edits written as text: search/replace blocks, unified diffs, apply_patch envelopes."""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass, field

from regreen.models.dialects import blocks, corrective, paths, thoughts
from regreen.models.dialects.corrective import Scene
from regreen.models.dialects.reading import Asked, Fault

_OPENING = re.compile(
    r"^[ \t]*(?:<{4,9}[ ]?(?:SEARCH|ORIGINAL|FIND|OLD|HEAD|BEFORE)\b|-{5,9}[ ]?SEARCH\b)"
    r"|^\*{3} (?:Begin Patch|(?:Update|Add|Delete) File:)"
    r"|^--- \S[^\n]*\n\+\+\+ \S|^diff --git |^@@ [^\n]*@@",
    re.MULTILINE | re.IGNORECASE,
)
_HUNK = re.compile(r"^@@(?: -\d+(?:,(\d{1,6}))? \+\d+(?:,(\d{1,6}))? @@)?")
_MOST_TURNS = 8
_LINES_BEFORE = 6
_PATCH_FILE = re.compile(r"^\*{3} (Update|Add|Delete) File:\s*(.+?)\s*$", re.IGNORECASE)
_END = re.compile(r"^(?:```|~~~|\*{3} End Patch|</|<\|)")
_FILE_NAME = re.compile(r"\"?(?:/dev/null|[ab]/[^\n]+|[^\s\"]*[/.][^\s\"]*)\"?")
_NAME_LINE = re.compile(
    r"^[\s#*>`\-/]*(?:(?:in|file|filename|path|update|edit|modify|change)\b[:\s]*)?[`*\"'\[]*"
    r"((?:[\w.-]+[/\\])*[\w.-]+\.\w{1,6})[`*\"'\]:]*\s*$",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Edit:
    path: str
    find: list[str] = field(default_factory=lambda: list[str]())
    replace: list[str] = field(default_factory=lambda: list[str]())
    new_file: bool = False


def looks_like(text: str) -> bool:
    """Whether the text holds a block, a diff or a patch."""
    return _OPENING.search(text) is not None


def first(text: str, start: int = 0) -> int:
    """Where the first block, diff or patch begins at or after `start`; -1 when there is none."""
    found = _OPENING.search(text, start)
    return found.start() if found else -1


def stop(text: str, start: int, end: int) -> int:
    """Where what the model says from `start` on is over: at a mark of the next turn, unless a block's own text holds it."""
    for turn in itertools.islice(thoughts.TURN.finditer(text, start, end), _MOST_TURNS):
        before = text[start : turn.start()].split("\n")
        opened = max((n for n, line in enumerate(before) if blocks.SEARCH.match(line)), default=-1)
        closed = any(blocks.REPLACE.match(line) for line in before[opened + 1 :])
        behind = text[turn.end() : end].split("\n")
        if opened < 0 or closed or not any(blocks.REPLACE.match(line) for line in behind):
            return turn.start()
    return end


def read(text: str, scene: Scene, path: str = "", ended: bool = True) -> list[Asked] | Fault:
    """The edits in a text, as calls of edit_file and write_file. `path` is used where the text names no file.

    `ended`: the text is known to be whole; else a diff that stops before its end is a fault.
    """
    lines = text.split("\n")
    done: list[_Edit] = []
    at = 0
    named = path
    whole = True
    envelope = False
    while at < len(lines):
        line = lines[at]
        if blocks.SEARCH.match(line):
            outcome = _block(lines, at, _name_before(lines, at) or named, scene)
            if isinstance(outcome, Fault):
                return outcome
            edit, at = outcome
            named = edit.path
            done.append(edit)
        elif found := _PATCH_FILE.match(line):
            if found.group(1).lower() == "delete":
                return _deletes(scene, found.group(2))
            named = found.group(2)
            edits, at, whole = _hunks(lines, at + 1, named, found.group(1).lower() == "add", scene)
            done += edits
        elif _heads_a_file(lines, at):
            if lines[at + 1][4:].split("\t")[0].strip() == "/dev/null":
                return _deletes(scene, _diff_name(line) or named)
            named = _diff_name(lines[at + 1]) or _diff_name(line) or named
            edits, at, whole = _hunks(lines, at + 2, named, "/dev/null" in line, scene)
            done += edits
        elif _HUNK.match(line):
            edits, at, whole = _hunks(lines, at, _name_before(lines, at) or named, False, scene)
            done += edits
        else:
            if line.startswith("***"):
                envelope = line.lower().startswith("*** begin patch")
            at += 1
    if (envelope or not whole) and not ended:
        return corrective.cut(scene, "inside a diff, before its end", named or scene.path())
    return _as_calls(done, scene, text)


def _deletes(scene: Scene, path: str) -> Fault:
    return scene.fault("bad_arguments", f"Files cannot be deleted: '{path}' was kept.")


def read_bare(lines: list[str], scene: Scene, path: str) -> list[Asked] | Fault:
    """A diff without any header: lines that begin with plus, minus or a blank."""
    edits, _, _ = _hunks(["@@", *lines], 0, path, False, scene)
    return _as_calls(edits, scene, "\n".join(lines))


def name_before(text: str, at: int) -> str:
    """The file name on the lines just before an offset, as models put it above a block; "" when there is none."""
    since = at
    for _ in range(_LINES_BEFORE + 1):
        since = text.rfind("\n", 0, since)
        if since < 0:
            break
    lines = text[since + 1 : at].split("\n")
    return _name_before(lines, len(lines) - 1 if not lines[-1].strip() else len(lines))


def _name_before(lines: list[str], at: int) -> str:
    seen = 0
    for line in reversed(lines[max(0, at - _LINES_BEFORE) : at]):
        if line.strip().startswith(("```", "~~~")) or not line.strip():
            continue
        if found := _NAME_LINE.match(line):
            return found.group(1)
        seen += 1
        if seen > 1:
            return ""
        if mentioned := paths.mentions(line, {}):
            return mentioned[-1] if len(mentioned) == 1 else ""
    return ""


def _block(lines: list[str], at: int, path: str, scene: Scene) -> tuple[_Edit, int] | Fault:
    """One search/replace block from its first mark, and the line behind it."""
    inline = re.match(r"^[ \t]*[<-]+[ ]?\w+>?\s+([\w./-]+\.\w{1,6})\s*$", lines[at])
    path = path or (inline.group(1) if inline else "")
    found = blocks.read(lines, at, path, _texts(path, scene))
    if found is None:
        return corrective.cut(scene, "inside a SEARCH/REPLACE block", path or scene.path())
    if isinstance(found, blocks.Doubt):
        return corrective.several_dividers(scene, found.dividers, path or scene.path())
    return _Edit(path, found.find, found.replace, not "".join(found.find).strip()), found.end


def _texts(path: str, scene: Scene) -> list[str]:
    """What the file of an edit may hold: its text, or where the edit names none, that of each file in play."""
    if not path:
        return list(scene.files.values())
    known = scene.files.get(path, scene.files.get(paths.clean(path, scene.files).text))
    return [] if known is None else [known]


@functools.lru_cache(maxsize=8)
def _lines_held(text: str) -> frozenset[str]:
    return frozenset(line.rstrip() for line in text.splitlines())


def _diff_name(line: str) -> str:
    name = line[4:].split("\t")[0].strip().strip('"')
    return "" if name == "/dev/null" else re.sub(r"^[ab]/", "", name)


def _heads_a_file(lines: list[str], at: int) -> bool:
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def _is_content(lines: list[str], at: int, held: frozenset[str], due: bool) -> bool:
    """Whether two lines of a hunk that look like the head of a file are a line out and a line in: `-- old` of SQL.

    `held` are the lines of the hunk's own file, `due` is true while its header promises more of both kinds.
    """
    old, new = lines[at][4:].split("\t")[0].strip(), lines[at + 1][4:].split("\t")[0].strip()
    if lines[at][1:].rstrip() in held:
        return True
    names = all(_FILE_NAME.fullmatch(name) for name in (old, new))
    follows = at + 2 < len(lines) and bool(_HUNK.match(lines[at + 2]))
    return not names or (due and not follows)


def _hunks(
    lines: list[str], at: int, path: str, new_file: bool, scene: Scene
) -> tuple[list[_Edit], int, bool]:
    """The hunks of one file, where they end, and whether the last one is whole: something follows it, or it is as long
    as its header says. A blank line inside a hunk is a context line."""
    edits: list[_Edit] = []
    held = frozenset[str]().union(*map(_lines_held, _texts(path, scene))) if path else frozenset[str]()
    begun = False  # a hunk's own header was there
    old, new = 0, 0  # lines that the header promises and that have not come
    current = _Edit(path, new_file=new_file)
    while at < len(lines):
        line = lines[at]
        if _END.match(line) or _PATCH_FILE.match(line) or line.startswith("diff --git"):
            break
        if _heads_a_file(lines, at) and not (begun and _is_content(lines, at, held, old > 0 and new > 0)):
            break
        if header := _HUNK.match(line):
            _close(current, edits)
            current, begun = _Edit(path, new_file=new_file), True
            old, new = int(header.group(1) or "1"), int(header.group(2) or "1")
            if not line.startswith("@@ -"):
                old, new = 0, 1  # no counts: at least one new line
        elif line.startswith("+"):
            current.replace.append(line[1:])
            new -= 1
        elif line.startswith("-"):
            current.find.append(line[1:])
            old -= 1
        elif line[:1] in (" ", "") and not new_file:
            current.find.append(line[1:])
            current.replace.append(line[1:])
            old, new = old - bool(line), new - bool(line)
        elif line.startswith(("\\", "index ", "new file", "*** End of File")):
            pass
        elif line.startswith("*** Move to"):
            current.path = line.split(":", 1)[-1].strip()
        elif line.strip():
            break
        at += 1
    _close(current, edits)
    return edits, at, at < len(lines) or (old <= 0 and new <= 0)


def _close(edit: _Edit, edits: list[_Edit]) -> None:
    """Take a hunk in when it changes anything; blank lines at its end are the text's, not the file's."""
    while edit.find and edit.replace and not edit.find[-1] and not edit.replace[-1]:
        edit.find.pop()
        edit.replace.pop()
    while edit.find and edit.replace and not edit.find[0] and not edit.replace[0]:
        edit.find.pop(0)
        edit.replace.pop(0)
    if edit.find != edit.replace:
        edits.append(edit)


def _as_calls(edits: list[_Edit], scene: Scene, text: str) -> list[Asked] | Fault:
    calls: list[Asked] = []
    for edit in edits:
        find, replace = "\n".join(edit.find), "\n".join(edit.replace)
        path = edit.path or _place(find, scene, text)
        if not path:
            return scene.fault(
                "bad_arguments",
                f"The edit of {corrective.quoted(find, 80)} names no file. Say which file it belongs to.",
                scene.edit_call("", find, replace) if scene.path() else "",
            )
        if edit.new_file:
            calls.append(Asked("write_file", {"path": path, "content": replace}))
        elif not find.strip():
            return scene.fault(
                "bad_arguments",
                f"The change to '{path}' only adds lines and shows no line of the file, so its place is unknown."
                " Put one existing line into find, and the same line with the new ones into replace.",
                scene.edit_call(path),
            )
        else:
            calls.append(Asked("edit_file", {"path": path, "find": find, "replace": replace}))
    return calls


def _place(find: str, scene: Scene, text: str) -> str:
    """The file for an edit that names none: the one in play, the only one that holds the text, the only one named."""
    if len(scene.files) == 1:
        return next(iter(scene.files))
    holding = [
        name
        for name, content in scene.files.items()
        if find.strip() and find in content.replace("\r\n", "\n")
    ]
    if len(holding) == 1:
        return holding[0]
    named = paths.mentions(text, scene.files) or scene.mentioned()
    return named[0] if len(named) == 1 else ""
