"""What an expression always comes to, whatever the program does: texts put together in pieces, answers without a look."""

from __future__ import annotations

import ast
import contextlib


def answers_always(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether a comparison gives one answer, or does not even look at what it is given."""
    names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
    if isinstance(node, ast.Lambda):
        answers: list[ast.expr | None] = [node.body]
    else:
        answers = [part.value for part in ast.walk(node) if isinstance(part, ast.Return)]
    given = {*names[1:], *([node.args.vararg.arg] if node.args.vararg else [])}
    looked = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} & given
    values = {repr(_constant(answer)) for answer in answers}
    refuses = values <= {"NotImplemented"} or not answers
    return not refuses and (not looked or (len(values) == 1 and "<unknown>" not in values))


def _constant(node: ast.expr | None) -> object:
    """The value an expression always has; "<unknown>" in quotes for one that depends on something."""

    class Unknown:
        def __repr__(self) -> str:
            return "<unknown>"

    class Refusal:
        def __repr__(self) -> str:
            return "NotImplemented"

    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.Name) and node.id == "NotImplemented":
        return Refusal()
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _constant(node.operand)
        return not inner if isinstance(inner, bool) else Unknown()
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        if ast.dump(node.left) == ast.dump(node.comparators[0]):
            return isinstance(node.ops[0], ast.Eq | ast.Is | ast.LtE | ast.GtE)
        return Unknown()
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance" and len(node.args) == 2:
        return True if ast.unparse(node.args[1]) == "object" else Unknown()
    if isinstance(node, ast.BoolOp):
        values = [_constant(value) for value in node.values]
        decides = isinstance(node.op, ast.Or)
        return decides if any(value is decides for value in values) else Unknown()
    return Unknown()


def folded(node: ast.AST) -> str | None:
    """The text that an expression of constants makes, put together in whatever way; None for any other."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = folded(node.left), folded(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and (left := folded(node.left)):
        items = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        texts = [folded(item) for item in items]
        with contextlib.suppress(TypeError, ValueError):
            return None if None in texts else left % tuple(texts)
        return None
    if isinstance(node, ast.JoinedStr):
        texts = [folded(part.value if isinstance(part, ast.FormattedValue) else part) for part in node.values]
        return None if None in texts else "".join(text for text in texts if text)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        text = folded(node.value)
        return text[::-1] if text is not None and ast.unparse(node.slice) == "::-1" else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _folded_call(node, node.func)
    return None


def _folded_call(node: ast.Call, func: ast.Attribute) -> str | None:
    text = folded(func.value)
    if text is None:
        return None
    if func.attr == "join" and len(node.args) == 1 and isinstance(node.args[0], ast.List | ast.Tuple):
        parts = [folded(item) for item in node.args[0].elts]
        return None if None in parts else text.join(part for part in parts if part is not None)
    arguments = [folded(argument) for argument in node.args]
    if (
        func.attr in ("lower", "upper", "strip", "replace", "format", "title", "casefold")
        and None not in arguments
    ):
        with contextlib.suppress(Exception):
            return str(getattr(text, func.attr)(*arguments))
    return None
