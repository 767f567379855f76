"""Doctests in source files: the file is code to be mended, its examples are the test and stay as they are.

Pure. An example is what a person types and what they are to see; words around it may change.
"""

from __future__ import annotations

import ast
import doctest
from collections import Counter
from collections.abc import Iterator, Sequence

from regreen.testing.folding import folded
from regreen.testing.target import Target
from regreen.workspace.policy import Policy

Example = tuple[str, str, str, tuple[tuple[int, bool], ...]]
"""What is typed, what is to be seen, the exception's text, options."""

_HIDING = frozenset(
    ("__doc__", "__test__", "__wrapped__", "__module__", "doctest", "update_wrapper", "globals")
)
"""Names that take hold of what a docstring says or where it is found."""
_KEEPS = frozenset(
    ("staticmethod", "classmethod", "property", "setter", "getter", "cache", "lru_cache", "cached_property", "wraps",
     "contextmanager", "total_ordering", "dataclass", "override", "final", "abstractmethod", "singledispatch")
)  # fmt: skip
"""Decorators behind which a docstring is found as before."""


def is_doctest(target: Target) -> bool:
    """Whether a target is a doctest of a Python file: pytest calls those by module and name, with dots."""
    if not target.path.endswith(".py") or len(target.names) != 1:
        return False
    name = target.names[0]
    return "." in name or name in _modules(target.path)


def lock_target(policy: Policy, target: Target) -> None:
    """Lock the target's file, or of a doctest in a file of code its examples."""
    if is_doctest(target):
        policy.lock_examples(target.path)
    else:
        policy.lock(target.path)


def _modules(path: str) -> list[str]:
    """Names under which a file may be known as a module, the longest first."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return [".".join(parts[at:]) for at in range(len(parts))] + ["__init__"]


def part_of(target: Target) -> str:
    """The function, method or class whose docstring holds the examples; "" for the module itself."""
    name = target.names[0]
    for module in _modules(target.path):
        if name == module or name.startswith(f"{module}."):
            return name[len(module) + 1 :]
    return name.rpartition(".")[2]


def examples_lost(before: str, after: str) -> str:
    """Why an edit leaves the examples of a file not as they are, as one sentence; "" when it does not touch them.

    Words around examples may change, and examples may be added where there were none. A file that does not parse is
    compared line by line.
    """
    try:
        old, new = ast.parse(before), ast.parse(after)
    except (SyntaxError, ValueError, RecursionError):
        lost = Counter(_typed(before)) - Counter(_typed(after))
        return f"The edit drops the doctest's line {min(lost)!r}." if lost else ""
    was, now = _examples(old), _examples(new)
    for name, examples in was.items():
        of = name or "the module"
        if name not in now:
            return f"The edit drops or hides the doctest of {of}, which is locked."
        if now[name] != examples:
            words = (
                "skips or loosens" if _without_options(now[name]) == _without_options(examples) else "changes"
            )
            return f"The edit {words} the doctest of {of}, which is locked."
    return _hidden(old, new, set(was))


def as_test(source: str, target: Target) -> tuple[str, tuple[str, ...]]:
    """A doctest as a test function, for those who read what a test asks: its source and its name.

    What is to be seen is compared with the value where it is a literal, else with the text.
    """
    try:
        found = _examples(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError):
        found = {}
    lines = ["def test_examples():"]
    for typed, wanted, _error, _options in (
        example for every in found.get(part_of(target), []) for example in every
    ):
        typed = typed.strip()
        try:
            ast.parse(typed, mode="eval")
            expression = bool(wanted.strip())
        except SyntaxError:
            expression = False
        if not expression:
            lines += [f"    {line}" for line in typed.splitlines()]
            continue
        try:
            ast.literal_eval(wanted.strip())
            lines.append(f"    assert ({typed}) == {wanted.strip()}")
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            lines.append(f"    assert ({typed}) == {wanted.strip()!r}")
    return "\n".join([*lines, "    pass", ""]), ("test_examples",)


def docstring_lines(source: str, name: str) -> tuple[int, int] | None:
    """First and last line of a function or class up to the end of its docstring; "" names the module."""
    try:
        found: ast.AST = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    for part in name.split(".") if name else ():
        inner = [
            node for node in ast.walk(found) if getattr(node, "name", "") == part and hasattr(node, "body")
        ]
        if not inner:
            return None
        found = inner[0]
    if not isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
        return None
    if not found.body or not ast.get_docstring(found):
        return None
    return getattr(found, "lineno", 1), found.body[0].end_lineno or 1


def _typed(source: str) -> list[str]:
    return [line.strip() for line in source.splitlines() if line.strip().startswith((">>>", "... "))]


def _examples(tree: ast.Module) -> dict[str, list[list[Example]]]:
    """The examples of each docstring that doctest looks into, by name and place; several where a name is defined twice."""
    found: dict[str, list[list[Example]]] = {}
    for name, docstring in _docstrings(tree):
        examples = _parsed(docstring)
        if examples:
            found.setdefault(name, []).append(examples)
    return found


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    def visit(body: Sequence[ast.stmt], prefix: str, place: str) -> Iterator[tuple[str, str]]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}{node.name}"
                yield name + place, ast.get_docstring(node, clean=False) or ""
                if isinstance(node, ast.ClassDef):
                    yield from visit(node.body, f"{name}.", place)
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__test__":
                yield "__test__" + place, ast.unparse(node.value).replace("\\n", "\n")
            else:
                begins = ast.unparse(node).partition("\n")[0]
                for field in ("body", "orelse", "finalbody", "handlers"):
                    yield from visit(_statements(node, field), prefix, f"{place} in {field} of {begins}")

    yield "", ast.get_docstring(tree, clean=False) or ""
    yield from visit(tree.body, "", "")


def _statements(node: ast.AST, field: str) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for part in ast.iter_child_nodes(ast.Module(getattr(node, field, None) or [], [])):
        found += (
            [part] if isinstance(part, ast.stmt) else part.body if isinstance(part, ast.ExceptHandler) else []
        )
    return found


def _parsed(docstring: str) -> list[Example]:
    try:
        examples = doctest.DocTestParser().get_examples(docstring)
    except ValueError:
        return [(docstring, "", "", ())] if ">>>" in docstring else []
    return [(e.source, e.want, e.exc_msg or "", tuple(sorted(e.options.items()))) for e in examples]


def _without_options(every: Sequence[Sequence[Example]]) -> list[list[tuple[str, str]]]:
    return [
        [(typed.partition("# doctest:")[0].strip(), wanted) for typed, wanted, _, _ in one] for one in every
    ]


def _hidden(old: ast.Module, new: ast.Module, names: set[str]) -> str:
    """What newly takes hold of docstrings, or puts something else in the place of what has examples."""
    was, now = Counter(_mentions(old)), Counter(_mentions(new))
    for name in now - was:
        return f"The edit uses {name}, which could change or hide the file's doctests."
    tops = {name.split(".")[0].partition(" ")[0] for name in names} - {""}
    bound, binds = Counter(_bound(old)), Counter(_bound(new))
    for name, count in binds.items():
        if name in tops and count > bound[name]:
            return f"The edit sets {name} once more, which would hide its doctest."
    if binds["*"] > bound["*"]:
        return "The edit imports '*', which could hide the file's doctests."
    wrapped = _decorators(new) - _decorators(old)
    for name, decorator in sorted(wrapped):
        inside = any(own.partition(" ")[0] == name or own.startswith(f"{name}.") for own in names)
        if inside and decorator.rpartition(".")[2] not in _KEEPS:
            return f"The edit wraps {name} in {decorator}, which could hide its doctest."
    return ""


def _mentions(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.Name):
            text = node.id
        elif isinstance(node, ast.Attribute):
            text = node.attr
        elif isinstance(node, ast.alias):
            text = node.name
        elif isinstance(node, ast.expr):
            text = folded(node) or ""
        if text in _HIDING:
            yield text


def _bound(tree: ast.Module) -> Iterator[str]:
    """Names that the module or its classes set, as often as they do."""
    scopes: list[ast.AST] = [tree]
    while scopes:
        node = scopes.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.split(".")[0]
        elif isinstance(node, ast.Global):
            yield from node.names
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            yield ast.unparse(node).partition(".")[0]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        scopes += (
            [n for n in ast.walk(node) if isinstance(n, ast.Global)]
            if inside
            else list(ast.iter_child_nodes(node))
        )


def _decorators(tree: ast.Module) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}{child.name}."
                for decorator in child.decorator_list:
                    called = decorator.func if isinstance(decorator, ast.Call) else decorator
                    found.add((name[:-1], ast.unparse(called)))
            visit(child, name)

    visit(tree, "")
    return found
