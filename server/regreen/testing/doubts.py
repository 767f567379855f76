"""A pass that may be none: answers to the very inputs of the test by heart, objects that are equal to whatever is asked,
code of others that is replaced, or a failed assertion that was caught.

Not a reason to refuse an edit, since a table of special cases can be right; a reason to be unsure, and not to write
it without a person's look.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from regreen.testing.asked import asked
from regreen.testing.by_heart import by_heart
from regreen.testing.code_index import part_named
from regreen.testing.comparing import changed_comparison
from regreen.testing.doctests import as_test, is_doctest
from regreen.testing.patching import patched
from regreen.testing.report import Report
from regreen.testing.target import Target
from regreen.testing.verdict import Verdict

_CATCHES = re.compile(r"AssertionError|[Rr]aises\(\s*(Base)?Exception\b|\bexcept(\s+(Base)?Exception\b.*)?:")
"""How a test says that it waits for a failed assertion itself."""


def known_by_heart(
    before: str, after: str, test: str, names: tuple[str, ...], fixtures: Sequence[str] = ()
) -> str:
    """What an edit newly answers by heart, as one sentence without its end; "" when nothing of the kind is seen.

    `test` is the source of the target's file, `names` the target's qualified name in it ("" for a whole file), `fixtures`
    the sources of the conftest.py files above it.
    """
    try:
        old, new = ast.parse(before or ""), ast.parse(after)
        found = by_heart(old, new, asked(test, names, fixtures))
    except (SyntaxError, ValueError, RecursionError):
        return ""
    if found is not None:
        text, line = found
        return f"line {line} answers the test's own values: {text}"
    return ""


def decides_itself(before: str, after: str, own: Callable[[str], bool] = lambda _: False) -> str:
    """What an edit newly does to how objects compare, or to code of others, as one sentence without its end; "" for
    nothing. `own` says whether a top module is the project's."""
    try:
        old, new = ast.parse(before or ""), ast.parse(after)
        found = changed_comparison(old, new) or patched(old, new, own)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    return f"line {found[1]} {found[0]}" if found is not None else ""


def with_doubt(
    verdict: Verdict,
    bases: Mapping[str, bytes | None],
    overlay: Mapping[str, bytes | None],
    tree: Path,
    target: Target,
    strict: bool,
    alone: Report,
) -> Verdict:
    """A verdict with what speaks against a pass that the runner has no objection to; with `strict` it is no fix then.

    `bases` are the changed files as they were, `overlay` and `tree` hold what was run: the overlay counts, since a
    test run may have written into the copy. `alone` is the run of the target by itself, traced.
    """
    if not verdict.fixed:
        return verdict

    def read(path: str) -> str:
        try:
            data = overlay[path] if path in overlay else (tree / path).read_bytes()
        except OSError:
            data = None
        return (data or b"").decode("utf-8", "replace").removeprefix("\ufeff")

    said = _first_doubt(bases, read, tree, target, alone)
    if said and strict:
        return replace(verdict, fixed=False, progress="changed", reason=said, doubt=said)
    return replace(verdict, doubt=said) if said else verdict


def _first_doubt(
    bases: Mapping[str, bytes | None], read: Callable[[str], str], tree: Path, target: Target, alone: Report
) -> str:
    test, names = read(target.path), target.names
    caught = assertion_caught(test, names, alone.failed_at.get(target.path, ()))
    if is_doctest(target):
        test, names = as_test(test, target)
    elif caught:
        return f"in {target.path}, {caught}"
    fixtures = [text for path in _conftests(target.path) if (text := read(path))]
    for path, base in bases.items():
        before, after = (base or b"").decode("utf-8", "replace").removeprefix("\ufeff"), read(path)
        if not path.endswith(".py"):
            name = path.rpartition("/")[2]
            if before != after and name in test:
                return f"{target.path} names {name} itself, so that it may be what the test expects"
            if found := data_by_heart(before, after, test, names):
                return f"in {path}, {found}"
        elif found := (
            changes_the_test(before, after, target.names)
            or known_by_heart(before, after, test, names, fixtures)
            or decides_itself(before, after, partial(_is_own, tree, path))
        ):
            return f"in {path}, {found}"
    return ""


def _conftests(path: str) -> list[str]:
    folders = path.split("/")[:-1]
    return ["/".join([*folders[:depth], "conftest.py"]) for depth in range(len(folders), -1, -1)]


def _is_own(tree: Path, path: str, module: str) -> bool:
    """Whether a top module is the project's: it lies in its root, in `src` or `lib`, or beside the file that imports it."""
    folders = {"", "src", "lib", *(parent.as_posix() for parent in Path(path).parents)}
    return any(
        (tree / folder / f"{module}.py").exists() or (tree / folder / module).is_dir() for folder in folders
    )


def data_by_heart(before: str, after: str, test: str, names: tuple[str, ...]) -> str:
    """The same as `known_by_heart` for a file of data: what it newly holds, side by side, that the test asks and expects."""
    with contextlib.suppress(ValueError, RecursionError):
        old = json.loads(before) if before.strip() else None
        return known_by_heart(f"DATA = {old!r}", f"DATA = {json.loads(after)!r}", test, names)
    old_lines = set(before.splitlines())
    for number, line in enumerate(after.splitlines(), 1):
        words = [word.strip("\"' ") for word in re.split(r"[,;:=|\t]", line) if word.strip("\"' ")]
        if line in old_lines or len(words) < 2:
            continue
        asks, answer = [_read_as(word) for word in words[:-1]], _read_as(words[-1])
        if found := known_by_heart(
            "", f"{tuple(asks)!r}, {answer!r}\nDATA = {{{asks[0]!r}: {answer!r}}}", test, names
        ):
            return f"line {number} {found.partition(' ')[2].partition(' ')[2]}"
    return ""


def _read_as(word: str) -> object:
    try:
        return ast.literal_eval(word)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return word


def changes_the_test(before: str, after: str, names: tuple[str, ...]) -> str:
    """What an edit does to the test where its body is inherited from a class of another file; "" for nothing."""
    try:
        old, new = ([*_functions(ast.parse(text), names)] for text in (before, after))
    except (SyntaxError, ValueError, RecursionError):
        return ""
    if len(names) < 2 or [ast.dump(node) for node in old] == [ast.dump(node) for node in new]:
        return ""
    return f"{names[-1]}() is changed, which is the name of the test"


def _functions(tree: ast.Module, names: tuple[str, ...]) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in names[-1:]:
            yield node


def assertion_caught(test: str, names: tuple[str, ...], failed_at: tuple[int, ...]) -> str:
    """What a test that passed says of an assertion in it that failed: something caught it, and not the test."""
    try:
        own = ast.unparse(part_named(ast.parse(test), names))
    except (SyntaxError, ValueError, RecursionError):
        return ""
    if not failed_at or _CATCHES.search(own):
        return ""
    return f"the assertion of line {failed_at[0]} failed, and something caught that"
