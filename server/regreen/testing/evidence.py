"""The evidence: what the model is told of the failure it is to mend, in a fixed order and a token budget.

Only the test that was picked, from one fresh run: its source, pytest's own words, and the code under test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from regreen.testing.code_index import CodeIndex, CodeUnit, Definition, Read, SourceFile
from regreen.testing.doctests import docstring_lines, is_doctest, part_of
from regreen.testing.report import Failure, Report, TestRecord
from regreen.testing.target import Target, split_nodeid

SMALL_FILE = 60
"""Lines up to which a file is shown whole."""

CHARS_PER_TOKEN = 3.3
"""Measured on Python source with the tokenizers of small code models: 3.2 to 3.6."""

_DEPTH = 3
_FILES = 40
_BOUND = re.compile(r"E\s+\+\s+(?:where|and) (\w+) = <[^<>\n]*>\.\1$")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one failure. `functions` is the code under test, most telling first.

    `helpers` are fixtures and functions that the test uses and nobody may edit. `note` says what was left out.
    """

    target: Target
    nodeid: str
    test: CodeUnit
    failure: Failure | None
    functions: tuple[CodeUnit, ...] = ()
    helpers: tuple[CodeUnit, ...] = ()
    note: str = ""
    failure_chars: int = 1600

    @property
    def test_source(self) -> str:
        """The failing test's own lines."""
        return self.test.source

    def render(self) -> str:
        """The text for the prompt. The same evidence gives the same text, byte for byte."""
        parts = [f"Failing test: {self.nodeid}", _fenced(self.test)]
        if self.failure is not None:
            parts.append("It fails with:\n```\n" + failure_lines(self.failure, self.failure_chars) + "\n```")
            if self.failure.output:
                parts.append("It printed:\n```\n" + cut(self.failure.output.strip(), 600) + "\n```")
        parts += ["Used by the test (locked):"] if self.helpers else []
        parts += [_fenced(unit) for unit in self.helpers]
        parts += ["Code under test:"] if self.functions else []
        parts += [_fenced(unit) for unit in self.functions]
        parts += [self.note] if self.note else []
        return "\n\n".join(parts)

    def to_json(self) -> dict[str, Any]:
        """As it stands in the run protocol and the trace."""
        return {
            "target": self.target.nodeid,
            "test": {"path": self.test.path, "line": self.test.first, "source": self.test.source},
            "failure": None if self.failure is None else asdict(self.failure),
            "functions": [
                {"path": unit.path, "name": unit.qualname, "first": unit.first, "last": unit.last}
                for unit in self.functions
            ],
            "note": self.note,
        }


def gather(target: Target, report: Report, read: Read, budget_tokens: int = 1500) -> Evidence:
    """Collect the evidence for `target` from a run of it; `read` gives a file's text by relative path.

    Works on what there is: without lines that ran, the code is found by frames, names and imports; without
    a failure (a test that is missing) the report's problem stands in the note.
    """
    record, others = _chosen(target, report)
    index = CodeIndex(read)
    failure = record.failure if record else None
    test = _test_unit(target, record, index)
    budget = int(budget_tokens * CHARS_PER_TOKEN)
    test = _shortened(test, failure, max(600, budget // 3))
    failure_chars = max(500, budget // 3)
    said = len(failure_lines(failure, failure_chars)) if failure else 0
    left = max(budget - len(test.source) - said - 200, budget // 4)
    doctest = is_doctest(target)
    helpers, left = _within([] if doctest else _helper_units(test, index), left, left // 3)
    ranked = list(_code_units(test, failure, report, index, {unit.path for unit in helpers}, doctest))
    functions, _ = _within(ranked, left, left)
    notes = [f"{others} more cases of this test fail." if others > 1 else "One more case of this test fails."]
    notes = notes if others else []
    notes += [
        f"The test is the doctest above: its examples are locked, the code of {target.path} is not."
    ] * doctest
    hidden = list(dict.fromkeys(unit.path for unit in ranked if unit not in functions))
    if hidden:
        shown = ", ".join(hidden[:5]) + (f" and {len(hidden) - 5} more files" if len(hidden) > 5 else "")
        notes.append(f"Not shown for lack of room: code in {shown}; read_file shows it.")
    if report.problem:
        notes.append(report.problem)
    nodeid = record.nodeid if record else target.nodeid
    return Evidence(
        target, nodeid, test, failure, tuple(functions), tuple(helpers), " ".join(notes), failure_chars
    )


def failure_lines(failure: Failure, limit: int = 1600) -> str:
    """pytest's words without the source it repeats: marked lines, places, and the error.

    Addresses of objects are left out, since they differ from run to run and say nothing; so does a line that only says
    that a method is one of its object.
    """
    kept = [
        line.rstrip()
        for line in failure.text.splitlines()
        if ("Use -v to get" not in line and line.startswith((">", "E ", "E\t")))
        or re.match(r"^\S.*:\d+: ?\w*$", line)
    ]
    if not any(line.startswith("E") for line in kept):
        kept += [f"E   {line}" for line in f"{failure.type}: {failure.message}".splitlines()]
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", "\n".join(line for line in kept if not _BOUND.match(line)))
    if failure.left is not None and not _tells(text, failure.left):
        text += f"\nleft:  {cut(failure.left, 300)}\nright: {cut(failure.right or '', 300)}"
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """Head and tail of whole lines where possible, with a line that says how much is missing."""
    if len(text) <= limit:
        return text
    half = limit // 2
    head, tail = (
        text[:half].rpartition("\n")[0] or text[:half],
        text[-half:].partition("\n")[2] or text[-half:],
    )
    return f"{head}\n[... {len(text) - len(head) - len(tail)} characters cut ...]\n{tail}"


def _tells(text: str, value: str) -> bool:
    return value[:60] in text


def _fenced(unit: CodeUnit) -> str:
    return f"{unit.title}:\n```python\n{unit.source}\n```"


def _chosen(target: Target, report: Report) -> tuple[TestRecord | None, int]:
    """The failing record that is spoken of, and how many more of the target's cases fail."""
    failing = [
        report.tests[nodeid]
        for nodeid in report.failed
        if target.covers(nodeid) or nodeid.split("::")[0] == target.path
    ]
    mine = [record for record in failing if target.covers(record.nodeid)] or failing[:1]
    with_failure = [record for record in mine if record.failure is not None] or mine
    return (with_failure[0], len(mine) - 1) if with_failure else (None, 0)


def _test_unit(target: Target, record: TestRecord | None, index: CodeIndex) -> CodeUnit:
    _path, names, _param = split_nodeid(record.nodeid) if record else (target.path, target.names, None)
    file = index.file(target.path)
    qualname = part_of(target) if is_doctest(target) else ".".join(names or target.names)
    if file is not None and is_doctest(target):
        lines = docstring_lines("".join(file.lines), qualname)
        if lines is not None:
            return file.unit(*lines, qualname or "part")
    places: list[tuple[SourceFile, Definition]] = []
    if file is not None:
        places += [(file, definition) for definition in file.definitions if definition.qualname == qualname]
    frames = record.failure.frames if record and record.failure else ()
    for frame in frames[:1]:
        # An inherited test: its source is in the file of the base class.
        other = index.file(frame.path)
        around = other.around(frame.line) if other else None
        if other and around and names and around.name == names[-1]:
            places.append((other, around))
    if places:
        holder, definition = places[0]
        return holder.unit(definition.first, definition.last, definition.qualname)
    if file is None:
        return CodeUnit(target.path, qualname, 1, 1, "")
    line = file.broken_at or (record.line if record else None) or 1
    return file.unit(max(1, line - 10), min(len(file.lines), line + 20), qualname or "part")


def _shortened(test: CodeUnit, failure: Failure | None, limit: int) -> CodeUnit:
    """A very long test, cut to its head and the lines that lead to the failing one."""
    if len(test.source) <= limit:
        return test
    lines = test.source.splitlines()
    failing = (
        next((f.line for f in failure.frames if f.path == test.path), test.first) if failure else test.first
    )
    at = max(0, min(failing - test.first, len(lines) - 1))
    head, size = 3, 0
    start = at
    while start > head and size + len(lines[start]) < limit * 2 // 3:
        size += len(lines[start]) + 1
        start -= 1
    end = min(len(lines), at + 4)
    kept = lines[:head] + [f"    # [... {start - head} lines cut ...]"] * (start > head) + lines[start:end]
    kept += [f"    # [... {len(lines) - end} lines cut ...]"] * (end < len(lines))
    return CodeUnit(test.path, test.qualname, test.first, test.last, "\n".join(kept))


def _helper_units(test: CodeUnit, index: CodeIndex) -> Iterator[CodeUnit]:
    """Fixtures, functions and names of the test's own file and of conftest.py above it that the test uses."""
    file = index.file(test.path)
    if file is None:
        return
    own = next((d for d in file.definitions if d.qualname == test.qualname), None)
    wanted = set(own.mentions if own else ())
    holders = [file, *filter(None, (index.file(path) for path in _conftests(test.path)))]
    for holder in holders:
        for definition in holder.definitions:
            outer = "." not in definition.qualname or definition.qualname.startswith(
                test.qualname.rpartition(".")[0] + "."
            )
            # `self.setUp` is never mentioned, and always used.
            named = definition.name in wanted or (definition.name in ("setUp", "setup_method") and outer)
            inside = holder is file and test.first <= definition.first <= test.last
            if named and outer and not inside and definition.kind != "class":
                yield holder.unit(definition.first, definition.last, definition.qualname)


def _conftests(path: str) -> list[str]:
    folders = path.split("/")[:-1]
    return ["/".join([*folders[:depth], "conftest.py"]) for depth in range(len(folders), -1, -1)]


def _code_units(
    test: CodeUnit,
    failure: Failure | None,
    report: Report,
    index: CodeIndex,
    locked: set[str],
    doctest: bool = False,
) -> Iterator[CodeUnit]:
    """The code under test, most telling first; a small file whole, once. A doctest stands in a file of code."""
    ranks: dict[tuple[str, str], tuple[int, int]] = {}
    files = _files_in_play(test, failure, report, index)
    for path, file in files.items():
        if file.broken_at is not None:
            ranks[(path, "")] = (0, 0)
    for depth, frame in enumerate(reversed(failure.frames if failure else ())):
        file = files.get(frame.path)
        around = file.around(frame.line) if file else None
        if file and frame.path != test.path:
            ranks.setdefault((frame.path, around.qualname if around else ""), (0, depth))
    near = _mentioned(test, files, index)
    order = list(files)
    for path, file in files.items():
        ran = report.executed.get(path, ())
        for definition in _innermost(file):
            executed = any(definition.first < line <= definition.last for line in ran)
            depth = near.get((path, definition.qualname))
            if executed:
                rank = (1, depth if depth is not None else _DEPTH + 1)
            elif depth is not None:
                rank = (2, depth)
            else:
                continue
            ranks.setdefault((path, definition.qualname), rank)
    shown: set[str] = set()
    for (path, qualname), _rank in sorted(
        ranks.items(), key=lambda item: (*item[1], order.index(item[0][0]))
    ):
        file = files[path]
        if path in shown or path in locked or (path == test.path and not doctest):
            continue
        if len(file.lines) <= SMALL_FILE:
            shown.add(path)
            yield file.whole()
        elif file.broken_at is not None:
            first = max(1, file.broken_at - 15)
            yield file.unit(first, min(len(file.lines), file.broken_at + 15), "around the error")
        else:
            yield from _definition_units(file, qualname)


def _definition_units(file: SourceFile, qualname: str) -> Iterator[CodeUnit]:
    for definition in file.definitions:
        if definition.qualname == qualname and definition.last - definition.first < 200:
            yield file.unit(definition.first, definition.last, qualname)


def _innermost(file: SourceFile) -> list[Definition]:
    """Functions and names; a class only when it holds no function of its own."""
    with_members = {d.qualname.rpartition(".")[0] for d in file.definitions if d.kind == "function"}
    return [d for d in file.definitions if d.kind != "class" or d.qualname not in with_members]


def _files_in_play(
    test: CodeUnit, failure: Failure | None, report: Report, index: CodeIndex
) -> dict[str, SourceFile]:
    """Files of the frames, files that ran, and what the test imports, directly and once removed."""
    paths = [frame.path for frame in reversed(failure.frames if failure else ())]
    paths += sorted(report.executed, key=lambda path: -len(report.executed[path]))
    imported = index.imported_files(test.path)
    paths += [file.path for file in imported]
    for file in imported:
        paths += [other.path for other in index.imported_files(file.path)]
    found: dict[str, SourceFile] = {}
    for path in dict.fromkeys(paths):
        file = index.file(path) if path.endswith(".py") and len(found) < _FILES else None
        if file is not None and not _is_test_code(path):
            found[path] = file
    return found


def _mentioned(test: CodeUnit, files: dict[str, SourceFile], index: CodeIndex) -> dict[tuple[str, str], int]:
    """How many steps of names lead from the test to each definition; 0 for those the test itself names."""
    file = index.file(test.path)
    own = next((d for d in file.definitions if d.qualname == test.qualname), None) if file else None
    frontier = set(own.mentions) if own else set(re.findall(r"\w+", test.source))
    for unit in _helper_units(test, index):
        frontier |= set(re.findall(r"\w+", unit.source))
    found: dict[tuple[str, str], int] = {}
    for depth in range(_DEPTH):
        following: set[str] = set()
        for path, holder in files.items():
            for definition in holder.definitions:
                key = (path, definition.qualname)
                if definition.name in frontier and key not in found:
                    found[key] = depth
                    if definition.kind != "class":
                        following |= definition.mentions
        frontier = following
    return found


def _is_test_code(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py")


def _within(units: Iterator[CodeUnit] | list[CodeUnit], room: int, limit: int) -> tuple[list[CodeUnit], int]:
    """As many pieces as fit, in order; a piece that does not fit makes way for smaller ones after it."""
    taken: list[CodeUnit] = []
    used = 0
    for unit in units:
        cost = len(unit.source) + len(unit.title) + 20
        if used + cost <= min(room, limit):
            taken.append(unit)
            used += cost
    return taken, room - used
