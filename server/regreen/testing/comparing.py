"""Edits of what decides whether two things are equal, or which comes first: an assertion asks the objects themselves.

A wrong `__eq__` must be mendable, so none of this is refused. One that demands more than before is no cause for doubt
where an assertion waits for equality, since fewer things are equal then.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Function = ast.FunctionDef | ast.AsyncFunctionDef

EQUAL = ("__eq__", "__ne__")
ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
_DECIDE = (*EQUAL, *ORDER, "__hash__", "__bool__", "__contains__", "__instancecheck__", "__subclasscheck__",
           "__getattr__", "__getattribute__", "__class__", "__missing__")  # fmt: skip
_NEW = (
    *EQUAL,
    *ORDER,
    "__bool__",
    "__instancecheck__",
    "__subclasscheck__",
    "__getattr__",
    "__getattribute__",
    "__class__",
)
_OPTIONS = ("compare", "eq", "cmp", "order", "hash", "unsafe_hash")
_PARTLY = re.compile(r"\b(len|bool|int|round|abs|type|isinstance|hasattr|callable|min|max|any|all)\(|//|%|\[")
"""What leaves a good deal of a value out."""
_STATES = 30_000
"""So many ways in which the parts of two objects may compare are gone through."""


def changed_comparison(before: ast.Module, after: ast.Module) -> tuple[str, int] | None:
    """What an edit newly does to how objects compare, as a clause, and the line; None for nothing to doubt."""
    old, new = dict(_classes(before)), dict(_classes(after))
    for name, node in new.items():
        mine, was = _methods(node), _methods(old[name]) if name in old else {}
        if name not in old:
            for method in _NEW:
                if method in mine and not _delegates(mine[method]):
                    return f"lets the new class {node.name} decide {_what(method)}", mine[method].lineno
            continue
        for method, made in mine.items():
            if method not in _DECIDE or (method in was and ast.dump(made) == ast.dump(was[method])):
                continue
            if not _harmless(method, made, was.get(method), mine):
                word = "changes" if method in was else "adds"
                return f"{word} {name}.{method}(), which decides {_what(method)}", made.lineno
        for method in EQUAL:
            if method in was and method not in mine:
                return f"takes out {name}.{method}(), which decides {_what(method)}", node.lineno
        if (said := _options(old[name], node)) is not None:
            return said
    return _module_level(before, after)


def _what(method: str) -> str:
    if method == "__eq__" or method == "__ne__":
        return "what it is equal to"
    if method in ORDER:
        return "what comes first"
    return {"__hash__": "what counts as the same", "__bool__": "what counts as true"}.get(
        method, "what it is taken for"
    )


def _classes(tree: ast.Module) -> Iterator[tuple[str, ast.ClassDef]]:
    def visit(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield prefix + child.name, child
                yield from visit(child, f"{prefix}{child.name}.")
            elif isinstance(child, Function):
                yield from visit(child, f"{prefix}{child.name}.")
            else:
                yield from visit(child, prefix)

    return visit(tree, "")


def _methods(node: ast.ClassDef) -> dict[str, ast.stmt]:
    """The class's own methods by name, also those that are set to something else."""
    found: dict[str, ast.stmt] = {}
    for part in node.body:
        if isinstance(part, Function):
            found[part.name] = _bare(part)
        elif isinstance(part, ast.Assign):
            found.update({target.id: part for target in part.targets if isinstance(target, ast.Name)})
    return found


def _bare(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    """A function without its docstring, at its own lines."""
    body = [p for p in node.body if not (isinstance(p, ast.Expr) and isinstance(p.value, ast.Constant))]
    if len(body) == len(node.body) or not body:
        return node
    bare = type(node)(node.name, node.args, body, node.decorator_list, None)
    return ast.copy_location(bare, node)


def _delegates(node: ast.stmt) -> bool:
    """`__getattr__` that only asks an object it holds."""
    if not isinstance(node, ast.FunctionDef) or node.name != "__getattr__" or len(node.body) != 1:
        return False
    text = ast.unparse(node.body[0])
    return text.startswith("return getattr(self.") and text.count("(") == 1


def _harmless(method: str, made: ast.stmt, was: ast.stmt | None, mine: Mapping[str, ast.stmt]) -> bool:
    """Whether a changed or added method makes no more things equal than parts that are, on both sides, say so."""
    if method in ("__bool__", "__contains__", "__missing__"):
        return not _gives_one_answer(made)
    if method == "__getattr__":
        return _delegates(made)
    if not isinstance(made, ast.FunctionDef):
        return False
    if method == "__hash__":
        return _hash_harmless(made, was, mine)
    if method == "__ne__":
        return (
            ast.unparse(made.body[0]) in ("return not self == other", "return not self.__eq__(other)")
            and len(made.body) == 1
        )
    new = _formula(made)
    if method not in (*EQUAL, *ORDER) or new is None or not new.honest:
        return False
    if not isinstance(was, ast.FunctionDef):
        return was is None and new.needs_equal_parts(method)
    old = _formula(was)
    return old is not None and new.no_looser(old, strictly=method in EQUAL)


def _gives_one_answer(node: ast.stmt) -> bool:
    answers = [part.value for part in ast.walk(node) if isinstance(part, ast.Return)]
    return not answers or all(isinstance(answer, ast.Constant) for answer in answers)


def _hash_harmless(made: ast.FunctionDef, was: ast.stmt | None, mine: Mapping[str, ast.stmt]) -> bool:
    parts = _of_self(made)
    if not parts:
        return False
    equal = _of_self(mine["__eq__"]) if "__eq__" in mine else set[str]()
    return parts == equal or was is None or _of_self(was) <= parts


def _of_self(node: ast.stmt) -> set[str]:
    return {
        part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self"
    }


def _options(before: ast.ClassDef, after: ast.ClassDef) -> tuple[str, int] | None:
    """`field(compare=False)`, `eq=`, `order=`, `total_ordering` and bases that compare, where they are new."""

    def said(node: ast.ClassDef) -> dict[str, int]:
        found: dict[str, int] = {}
        fields = [part for part in node.body if isinstance(part, ast.Assign | ast.AnnAssign)]
        for part in (inner for top in (*node.decorator_list, *fields) for inner in ast.walk(top)):
            if not isinstance(part, ast.keyword) or part.arg not in _OPTIONS:
                continue
            if not (isinstance(part.value, ast.Constant) and part.value.value is True):
                found[f"{part.arg}={ast.unparse(part.value)}"] = part.value.lineno
        for keyword in node.keywords:
            if keyword.arg == "metaclass":
                found[f"metaclass={ast.unparse(keyword.value)}"] = node.lineno
        return found

    old = said(before)
    for text, line in said(after).items():
        if text not in old:
            return f"sets {text} for {after.name}, which decides what it is equal to", line
    return None


def _module_level(before: ast.Module, after: ast.Module) -> tuple[str, int] | None:
    """A module's own `__getattr__`, and `__class__` that is set."""
    there = {node.name for node in before.body if isinstance(node, Function)}
    for node in after.body:
        if isinstance(node, Function) and node.name == "__getattr__" and node.name not in there:
            return "adds a __getattr__() for the module, which decides what its names are", node.lineno
    old = [ast.unparse(node) for node in ast.walk(before) if _sets_class(node)]
    for node in ast.walk(after):
        if _sets_class(node) and ast.unparse(node) not in old:
            return "sets the __class__ of an object, which decides what it is taken for", getattr(
                node, "lineno", 0
            )
    return None


def _sets_class(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__" and isinstance(node.ctx, ast.Store)
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in ("setattr", "__setattr__")
        and any(
            isinstance(argument, ast.Constant) and argument.value == "__class__" for argument in node.args
        )
    )


# --- comparisons as formulas ------------------------------------------------------------------------------------


class _Unclear(Exception):
    """A comparison that is more than a formula over parts of both sides."""


class _Formula:
    """A comparison as a truth over how the parts of both objects compare: pairs are less, equal or more, other
    questions true or false."""

    def __init__(self, node: ast.FunctionDef) -> None:
        names = [argument.arg for argument in node.args.args]
        if len(names) != 2:
            raise _Unclear
        self._mine, self._other = names
        self._body = node.body
        self.pairs: dict[tuple[str, str], None] = {}
        self.questions: dict[str, None] = {}
        self._run(self._body, None)

    @property
    def honest(self) -> bool:
        """Whether every pair compares a part of one object, whole, with the same part of the other."""
        same = (self._renamed(left) == right or self._renamed(right) == left for left, right in self.pairs)
        return all(same) and not any(_PARTLY.search(left) for left, _right in self.pairs)

    def _renamed(self, text: str) -> str:
        tree = ast.parse(text, mode="eval")
        swapped = {self._mine: self._other, self._other: self._mine}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = swapped.get(node.id, node.id)
        return ast.unparse(tree)

    def _is_mine(self, text: str) -> bool:
        return any(isinstance(n, ast.Name) and n.id == self._mine for n in ast.walk(ast.parse(text)))

    def needs_equal_parts(self, method: str) -> bool:
        """Whether it holds only where some part is equal (or comes first), and never where all parts differ."""
        if not self.pairs:
            return False
        for way in (-1, 1) if method in EQUAL else (1,) if method in ("__lt__", "__le__") else (-1,):
            # A pair stands in the order of its texts; what is less may be the other object's part.
            states = {pair: way if self._is_mine(pair[0]) else -way for pair in self.pairs}
            for answers in itertools.product((False, True), repeat=len(self.questions)):
                if self.holds(states, dict(zip(self.questions, answers, strict=True))):
                    return False
        return True

    def no_looser(self, old: _Formula, strictly: bool) -> bool:
        """Whether it holds nowhere (or, not `strictly`, no more often than) the old one did not."""
        pairs, questions = {**self.pairs, **old.pairs}, {**self.questions, **old.questions}
        if 3 ** len(pairs) * 2 ** len(questions) > _STATES:
            return False
        more = less = 0
        for states in itertools.product((-1, 0, 1), repeat=len(pairs)):
            for answers in itertools.product((False, True), repeat=len(questions)):
                given = dict(zip(pairs, states, strict=True)), dict(zip(questions, answers, strict=True))
                now, then = self.holds(*given), old.holds(*given)
                more, less = more + (now and not then), less + (then and not now)
        return more == 0 if strictly else more <= less

    def holds(self, states: Mapping[tuple[str, str], int], answers: Mapping[str, bool]) -> bool:
        """The answer where parts compare like this."""
        return bool(self._run(self._body, (states, answers)))

    def _run(self, body: Sequence[ast.stmt], given: Any) -> bool | None:
        for part in body:
            if isinstance(part, ast.Return) and part.value is not None:
                return self._truth(part.value, given)
            if not isinstance(part, ast.If):
                raise _Unclear
            test = self._truth(part.test, given)
            for chosen, branch in ((True, part.body), (False, part.orelse)):
                if given is None or test is chosen:
                    answer = self._run(branch, given)
                    if answer is not None and given is not None:
                        return answer
        return None

    def _truth(self, node: ast.expr, given: Any) -> bool:
        if isinstance(node, ast.Constant):
            return bool(node.value)
        if isinstance(node, ast.Name) and node.id == "NotImplemented":
            return False
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self._truth(node.operand, given)
        if isinstance(node, ast.BoolOp):
            values = [self._truth(value, given) for value in node.values]
            return all(values) if isinstance(node.op, ast.And) else any(values)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            found = [
                self._pair(a, op, b, given) for a, op, b in zip(sides, node.ops, sides[1:], strict=False)
            ]
            return all(found)
        return self._question(ast.unparse(node), given)

    def _question(self, text: str, given: Any) -> bool:
        self.questions.setdefault(text)
        return bool(given and given[1].get(text, False))

    def _pair(self, left: ast.expr, sign: ast.cmpop, right: ast.expr, given: Any) -> bool:
        both = (
            isinstance(left, ast.Tuple)
            and isinstance(right, ast.Tuple)
            and isinstance(sign, ast.Eq | ast.NotEq)
        )
        if both and len(left.elts) == len(right.elts):  # type: ignore[union-attr]
            parts = zip(left.elts, right.elts, strict=True)  # type: ignore[union-attr]
            found = [self._pair(a, ast.Eq(), b, given) for a, b in parts]
            return all(found) is isinstance(sign, ast.Eq)
        texts = ast.unparse(left), ast.unparse(right)
        if isinstance(sign, ast.In | ast.NotIn) or "type(" in texts[0] or "__class__" in texts[0]:
            negative = isinstance(sign, ast.NotIn | ast.NotEq | ast.IsNot)
            return self._question(" ".join(texts), given) is not negative
        swapped = texts[0] > texts[1]
        key = (texts[1], texts[0]) if swapped else texts
        self.pairs.setdefault(key)
        state = (given[0].get(key, 0) if given else 0) * (-1 if swapped else 1)
        holds: dict[type[ast.cmpop], bool] = {
            ast.Eq: state == 0, ast.Is: state == 0, ast.NotEq: state != 0, ast.IsNot: state != 0,
            ast.Lt: state < 0, ast.LtE: state <= 0, ast.Gt: state > 0, ast.GtE: state >= 0,
        }  # fmt: skip
        return holds[type(sign)]


def _formula(node: ast.FunctionDef) -> _Formula | None:
    try:
        return _Formula(node)
    except (_Unclear, RecursionError, SyntaxError):
        return None
