"""A pass that may be none: answers to the very inputs of the test by heart, or a failed assertion that was caught.

Not a reason to refuse an edit, since a table of special cases can be right; a reason to be unsure, and not to write
it without a person's look.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from regreen.testing.report import Report
from regreen.testing.target import Target
from regreen.testing.verdict import Verdict

_CATCHES = re.compile(r"AssertionError|[Rr]aises\(\s*(Base)?Exception\b|\bexcept(\s+(Base)?Exception\b.*)?:")
"""How a test says that it waits for a failed assertion itself."""
_PLAIN = frozenset(["0", "1", "-1", "0.0", "1.0", "''", "None", "True", "False", "[]", "()", "{}", "b''"])
"""Values of base cases, which good code asks for too."""


def known_by_heart(before: str, after: str, test: str, names: tuple[str, ...]) -> str:
    """What an edit newly answers by heart, as one sentence without its end; "" when nothing of the kind is seen.

    `test` is the source of the target's file, `names` the target's qualified name in it ("" for a whole file).
    """
    try:
        new, old, used = ast.parse(after), ast.parse(before or ""), _values(_target(ast.parse(test), names))
    except (SyntaxError, ValueError, RecursionError):
        return ""
    known = Counter(text for text, _ in _by_heart(old, used))
    for text, line in _by_heart(new, used):
        known[text] -= 1
        if known[text] < 0:
            return f"line {line} answers the test's own values: {text}"
    return _new_equality(old, new)


def _new_equality(old: ast.Module, new: ast.Module) -> str:
    """A class that was not there before and decides itself what it is equal to: an assertion asks it first."""
    there = {node.name for node in ast.walk(old) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(new):
        if isinstance(node, ast.ClassDef) and node.name not in there:
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__eq__":
                    return f"line {part.lineno} lets the new class {node.name} decide what it is equal to"
    return ""


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

    said = _first_doubt(bases, read, target, alone)
    if said and strict:
        return replace(verdict, fixed=False, progress="changed", reason=said, doubt=said)
    return replace(verdict, doubt=said) if said else verdict


def _first_doubt(
    bases: Mapping[str, bytes | None], read: Callable[[str], str], target: Target, alone: Report
) -> str:
    test = read(target.path)
    caught = assertion_caught(test, target.names, alone.failed_at.get(target.path, ()))
    if caught:
        return f"in {target.path}, {caught}"
    for path, base in bases.items():
        before, after = (base or b"").decode("utf-8", "replace").removeprefix("\ufeff"), read(path)
        if not path.endswith(".py"):
            name = path.rpartition("/")[2]
            if before != after and name in test:
                return f"{target.path} names {name} itself, so that it may be what the test expects"
        elif found := changes_the_test(before, after, target.names) or known_by_heart(
            before, after, test, target.names
        ):
            return f"in {path}, {found}"
    return ""


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
        own = ast.unparse(_target(ast.parse(test), names))
    except (SyntaxError, ValueError, RecursionError):
        return ""
    if not failed_at or _CATCHES.search(own):
        return ""
    return f"the assertion of line {failed_at[0]} failed, and something caught that"


def _target(tree: ast.Module, names: tuple[str, ...]) -> ast.AST:
    found: ast.AST = tree
    for name in names:
        for node in ast.walk(found):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
                found = node
                break
        else:
            return tree
    return found


def _values(test: ast.AST) -> frozenset[str]:
    return frozenset(repr(value) for node in ast.walk(test) if (value := _value(node)) is not _NONE)


_NONE = object()


def _value(node: ast.AST | None) -> object:
    """The value of a literal; `_NONE` for what is none."""
    if isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Set | ast.Dict | ast.UnaryOp):
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError):
            return _NONE
    return _NONE


def _by_heart(tree: ast.Module, used: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Places where a value of the test leads to a value of the test."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If):
            answers = [_answer(part) for part in node.body]
            yield from _branch(node.test, answers[0] if len(answers) == 1 else _NONE, used, node.lineno)
        elif isinstance(node, ast.IfExp):
            yield from _branch(node.test, _value(node.body), used, node.lineno)
        elif isinstance(node, ast.match_case):
            if isinstance(node.pattern, ast.MatchValue) and len(node.body) == 1:
                asked = [_value(node.pattern.value)]
                yield from _pair(asked, _answer(node.body[0]), used, node.pattern.lineno)
        elif isinstance(node, ast.Subscript | ast.Call):
            yield from _table(node, used)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _whole_function(node, used)


def _answer(node: ast.stmt) -> object:
    return _value(node.value) if isinstance(node, ast.Return | ast.Assign) else _NONE


def _branch(test: ast.expr, answer: object, used: frozenset[str], line: int) -> Iterator[tuple[str, int]]:
    asked = [
        _value(part)
        for compare in ast.walk(test)
        if isinstance(compare, ast.Compare)
        and all(isinstance(op, ast.Eq | ast.In | ast.Is) for op in compare.ops)
        for part in (compare.left, *compare.comparators)
    ]
    yield from _pair([value for value in asked if value is not _NONE], answer, used, line)


def _pair(asked: list[object], answer: object, used: frozenset[str], line: int) -> Iterator[tuple[str, int]]:
    known = [value for value in asked if value is not _NONE and repr(value) in used]
    telling = [value for value in known if repr(value) not in _PLAIN]
    if answer is _NONE or not known:
        return
    if isinstance(answer, bool) or answer is None:
        if len(known) < len(asked):
            return
        # A yes or no to one word or number is a rule more often than not.
        clear = len(telling) > 1 or any(isinstance(value, list | tuple | set | dict) for value in telling)
    else:
        clear = bool(telling) and repr(answer) in used
    if clear:
        yield f"{answer!r} for {', '.join(repr(value) for value in asked)}"[:100], line


def _table(node: ast.Subscript | ast.Call, used: frozenset[str]) -> Iterator[tuple[str, int]]:
    """A look into a table that is written down on the spot."""
    held = node.value if isinstance(node, ast.Subscript) else getattr(node.func, "value", None)
    if not isinstance(held, ast.Dict):
        return
    for key, value in zip(held.keys, held.values, strict=True):
        yield from _pair([_value(key)], _value(value), used, node.lineno)


def _whole_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, used: frozenset[str]
) -> Iterator[tuple[str, int]]:
    """A function that gives the test's value whatever it is given."""
    body = [
        part
        for part in node.body
        if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
    ]
    given = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args) if argument.arg != "self"]
    if len(body) == 1 and isinstance(body[0], ast.Return) and given:
        answer = _value(body[0].value)
        if answer is not _NONE and repr(answer) in used and repr(answer) not in _PLAIN:
            yield f"{answer!r} from {node.name}(), whatever it is given"[:100], body[0].lineno
