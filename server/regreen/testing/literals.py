"""What an expression of constants comes to, without running anything: literals, names of constants, plain calls.

Answers by heart need not be written down as such: `int("11")`, `10 + 1`, a constant of the module, a function without
arguments that gives one, `"11 0".split()`. Sizes are limited, since the text may have been written to be costly.
"""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

UNKNOWN: Any = object()
"""The value of an expression that depends on something."""

_LONGEST = 20_000
"""Characters, bytes or items of a value that is made here."""
_DEEPEST = 60


def _listed(maker: Callable[..., Iterable[Any]]) -> Callable[..., list[Any]]:
    def make(*of: Any) -> list[Any]:
        return list(maker(*of))

    return make


_PLAIN_CALLS: dict[str, Callable[..., Any]] = {
    "int": int, "float": float, "str": str, "bool": bool, "complex": complex, "bytes": bytes, "list": list,
    "tuple": tuple, "set": set, "frozenset": frozenset, "dict": dict, "len": len, "sum": sum, "abs": abs,
    "round": round, "min": min, "max": max, "sorted": sorted, "chr": chr, "ord": ord, "repr": repr, "iter": list,
    "reversed": _listed(reversed), "zip": _listed(zip), "enumerate": _listed(enumerate), "deque": list, "cycle": list,
    "literal_eval": ast.literal_eval, "loads": json.loads, "b64decode": base64.b64decode,
    "unhexlify": binascii.unhexlify, "MappingProxyType": dict, "OrderedDict": dict,
}  # fmt: skip
_METHODS = frozenset(
    ("split", "rsplit", "splitlines", "join", "replace", "strip", "lstrip", "rstrip", "lower", "upper", "title", "casefold",
     "capitalize", "swapcase", "format", "zfill", "encode", "decode", "removeprefix", "removesuffix", "hex", "copy",
     "items", "keys", "values", "fromhex", "translate")
)  # fmt: skip
_MADE = frozenset(
    ("Decimal", "Fraction", "date", "datetime", "time", "timedelta", "UUID", "Path", "PurePath", "PurePosixPath", "approx")
)  # fmt: skip
"""Calls that stand for a value of their own."""
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b, ast.BitXor: lambda a, b: a ^ b,
    ast.BitOr: lambda a, b: a | b, ast.BitAnd: lambda a, b: a & b, ast.LShift: lambda a, b: a << b,
    ast.RShift: lambda a, b: a >> b, ast.Pow: lambda a, b: a**b,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Made:
    """A value that a constructor makes of constants."""

    text: str

    def __repr__(self) -> str:
        return self.text


def value_of(node: ast.AST | None, names: Mapping[str, ast.expr] | None = None, depth: int = 0) -> Any:
    """The value of an expression, UNKNOWN when it depends on anything but constants.

    `names` are those whose value is known, with the expression that gives it (see `constants`).
    """
    if node is None or depth > _DEEPEST:
        return UNKNOWN
    try:
        value = _value(node, names or {}, depth)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, MemoryError):
        return UNKNOWN
    return value if _small(value) else UNKNOWN


def _small(value: Any) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return value.bit_length() < 4000
    sized = isinstance(value, str | bytes | list | tuple | dict | set | frozenset)
    return not sized or len(value) <= _LONGEST  # pyright: ignore[reportUnknownArgumentType]


def _value(node: ast.AST, names: Mapping[str, ast.expr], depth: int) -> Any:
    def of(part: ast.AST | None) -> Any:
        return value_of(part, names, depth + 1)

    def all_of(parts: Sequence[ast.AST | None]) -> list[Any] | None:
        values = [of(part) for part in parts]
        return None if any(value is UNKNOWN for value in values) else values

    match node:
        case ast.Constant():
            return node.value
        case ast.Name() | ast.Attribute():
            name = ast.unparse(node)
            return of(names[name]) if name in names else UNKNOWN
        case ast.List() | ast.Tuple() | ast.Set():
            if (items := all_of(node.elts)) is None:
                return UNKNOWN
            return (
                items
                if isinstance(node, ast.List)
                else tuple(items)
                if isinstance(node, ast.Tuple)
                else set(items)
            )
        case ast.Dict():
            keys, values = all_of(node.keys), all_of(node.values)
            return UNKNOWN if keys is None or values is None else dict(zip(keys, values, strict=True))
        case ast.UnaryOp():
            return _signed(node.op, of(node.operand))
        case ast.BinOp():
            return _combined(node.op, of(node.left), of(node.right))
        case ast.JoinedStr():
            parts = all_of([p.value if isinstance(p, ast.FormattedValue) else p for p in node.values])
            return UNKNOWN if parts is None else "".join(map(str, parts))
        case ast.Subscript():
            holder = of(node.value)
            if holder is UNKNOWN:
                return UNKNOWN
            if isinstance(node.slice, ast.Slice):
                ends = all_of(
                    [p or ast.Constant(None) for p in (node.slice.lower, node.slice.upper, node.slice.step)]
                )
                return UNKNOWN if ends is None else holder[slice(*ends)]
            at = of(node.slice)
            return UNKNOWN if at is UNKNOWN else holder[at]
        case ast.Lambda():
            return UNKNOWN if _takes(node.args) else of(node.body)
        case ast.Call():
            return _called(node, names, of, all_of)
        case _:
            return UNKNOWN


def _signed(sign: ast.unaryop, value: Any) -> Any:
    if value is UNKNOWN:
        return UNKNOWN
    if isinstance(sign, ast.Not):
        return not value
    if not isinstance(value, int | float | complex):
        return UNKNOWN
    return (
        -value if isinstance(sign, ast.USub) else +value if isinstance(sign, ast.UAdd) else ~int(value.real)
    )


def _combined(sign: ast.operator, left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN or type(sign) not in _OPERATORS:
        return UNKNOWN
    if isinstance(sign, ast.Mod) and isinstance(left, str | bytes) and _costly(left, [right]):
        return UNKNOWN
    large = (isinstance(right, int) and abs(right) > 200) or (
        isinstance(left, int) and not isinstance(right, int) and left > 200
    )
    if isinstance(sign, ast.Pow | ast.LShift) and large:
        return UNKNOWN
    if isinstance(sign, ast.Mult) and (hasattr(left, "__len__") or hasattr(right, "__len__")) and large:
        return UNKNOWN
    return _OPERATORS[type(sign)](left, right)


def _called(
    node: ast.Call,
    names: Mapping[str, ast.expr],
    of: Callable[[ast.AST | None], Any],
    all_of: Callable[[Sequence[ast.AST | None]], list[Any] | None],
) -> Any:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    whole = ast.unparse(node.func)
    if isinstance(node.func, ast.Lambda) and not node.args and not node.keywords:
        return of(node.func)
    if f"{whole}()" in names and not node.args and not node.keywords:
        return of(names[f"{whole}()"])
    arguments = all_of(node.args)
    keywords = all_of([keyword.value for keyword in node.keywords])
    if arguments is None or keywords is None or any(keyword.arg is None for keyword in node.keywords):
        return UNKNOWN
    if called == "approx" and arguments:
        return arguments[0]
    if called in _MADE:
        named = [f"{keyword.arg}={value!r}" for keyword, value in zip(node.keywords, keywords, strict=True)]
        return Made(f"{called}({', '.join([*map(repr, arguments), *named])})")
    if called == "dict":
        pairs = {keyword.arg: value for keyword, value in zip(node.keywords, keywords, strict=True)}
        first: dict[Any, Any] = dict(*arguments)
        return {**first, **pairs}
    if keywords:
        return UNKNOWN
    if isinstance(node.func, ast.Attribute) and called in _METHODS:
        holder = of(node.func.value)
        if called in ("format", "zfill", "replace", "join", "translate") and _costly(holder, arguments):
            return UNKNOWN
        if isinstance(holder, str | bytes | list | dict | tuple):
            method: Callable[..., Any] = getattr(holder, called)  # pyright: ignore[reportUnknownArgumentType]
            return list(method()) if called in ("items", "keys", "values") else method(*arguments)
        return bytes.fromhex(*arguments) if called == "fromhex" else UNKNOWN
    if called == "decode" and whole == "codecs.decode" and len(arguments) == 2:
        return codecs.decode(*arguments)  # pyright: ignore[reportUnknownVariableType]
    if called == "range" and arguments and all(isinstance(a, int) and abs(a) < 2000 for a in arguments):
        return list(range(*arguments))
    if called in ("bytes", "list", "tuple", "set") and arguments and isinstance(arguments[0], int):
        return UNKNOWN
    return _PLAIN_CALLS[called](*arguments) if called in _PLAIN_CALLS else UNKNOWN


def _costly(holder: Any, arguments: Sequence[Any]) -> bool:
    """Whether a few characters could ask for many: widths, repeated replacements."""
    return len(f"{holder!r}{arguments!r}") > 2000 or bool(re.search(r"\d{5}", f"{holder!r}{arguments!r}"))


def _takes(arguments: ast.arguments) -> bool:
    return bool(arguments.posonlyargs or arguments.args or arguments.vararg or arguments.kwonlyargs)


def constants(tree: ast.AST) -> dict[str, ast.expr]:
    """Names that are set once and to nothing else, by the expression: constants of the module and of classes, as
    `NAME` and `Class.NAME`, functions without arguments that only return, as `name()`."""
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()

    def set_(name: str, to: ast.expr) -> None:
        if name in found:
            twice.add(name)
        found[name] = to

    def visit(body: Sequence[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        set_(prefix + target.id, node.value)
            elif (
                isinstance(node, ast.AnnAssign)
                and node.value is not None
                and isinstance(node.target, ast.Name)
            ):
                set_(prefix + node.target.id, node.value)
            elif isinstance(node, ast.AugAssign | ast.For):
                twice.update(prefix + part.id for part in ast.walk(node.target) if isinstance(part, ast.Name))
            elif isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef) and (answer := only_answer(node)) is not None:
                given = [argument.arg for argument in node.args.args]
                if not _takes(node.args):
                    set_(f"{prefix}{node.name}()", answer)
                elif given == ["self"] and prefix:
                    set_(f"self.{node.name}()", answer)

    if isinstance(tree, ast.Module):
        visit(tree.body, "")
    for name, to in list(found.items()):
        owner, dot, last = name.rpartition(".")
        if dot and not name.startswith("self.") and owner:
            found.setdefault(f"self.{last}", to)
            found.setdefault(f"cls.{last}", to)
    return {name: to for name, to in found.items() if name not in twice}


def only_answer(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
    """What a function whose body is one `return` (beside its docstring) returns."""
    body = [part for part in node.body if not is_text(part)]
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a text by itself, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def key(value: Any) -> str:
    """Equal for values that compare equal, whatever sequence they are held in."""
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return repr(int(value))
    if isinstance(value, list | tuple):
        return "(" + ", ".join(key(item) for item in value) + ")"  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(key(item) for item in value)) + "}"  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        pairs = sorted(f"{key(k)}: {key(v)}" for k, v in value.items())  # pyright: ignore[reportUnknownVariableType]
        return "{" + ", ".join(pairs) + "}"
    return repr(value)


def held_in(value: Any) -> Iterator[Any]:
    """A value and, for a collection, everything in it."""
    yield value
    if isinstance(value, dict):
        for name, item in value.items():  # pyright: ignore[reportUnknownVariableType]
            yield from held_in(name)
            yield from held_in(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:  # pyright: ignore[reportUnknownVariableType]
            yield from held_in(item)
