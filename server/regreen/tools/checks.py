"""What is refused before a change becomes a proposal: it must parse, change something and lose nothing.

What a call alone tells (placeholders, a text for another file) was refused when the reply was read, see
`models.dialects`; here is what takes the file to see.
"""

from __future__ import annotations

import ast
import unicodedata

from regreen.workspace.changes import FileChange

_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffd")
"""Marks that change the order in which text is shown (CVE-2021-42574), and the sign for a lost character."""
SHRINK = 0.4
"""A rewritten file of more than a few lines may not fall below this share of its lines."""


def refusal(change: FileChange, rewrite: bool) -> str:
    """Why a change must not be proposed, as one text for the model; "" when it may.

    `rewrite` is true for a whole-file write: such a write may not lose definitions.
    """
    if change.before is not None and change.after == change.before:
        return f"That leaves {change.path} as it is: nothing would change."
    if rewrite and change.before and not change.after.strip():
        return f"That would empty {change.path}. Use edit_file for the lines that are wrong."
    if unseen := _unseen(change):
        return (
            f"The new text for {change.path} holds {unseen}, which nobody can see in a diff. "
            "Write it as an escape, such as \\u202e or \\x1b."
        )
    if change.path.endswith(".py"):
        return _python(change, rewrite)
    if rewrite and _shrunk(change):
        return _shrink_text(change)
    return ""


def _unseen(change: FileChange) -> str:
    """The first control or direction character that the file did not hold before, by its code point."""
    known = set(change.before or "")
    for character in change.after:
        hidden = unicodedata.category(character) in ("Cc", "Cs", "Co") or character in _DIRECTIONS
        if hidden and character not in known and character not in "\n\r\t\f":
            return f"the character U+{ord(character):04X}"
    return ""


def _python(change: FileChange, rewrite: bool) -> str:
    before = _parse(change.before) if change.before is not None else None
    after = _parse(change.after)
    if isinstance(after, SyntaxError):
        if isinstance(before, SyntaxError) and _later(after, before):
            return ""
        lines = change.after.splitlines()
        number = min(after.lineno or 1, len(lines) or 1)
        shown = lines[number - 1] if lines else ""
        return f"With that edit {change.path} does not parse: {after.msg}, line {number}:\n```\n{shown}\n```"
    if rewrite and isinstance(before, ast.Module):
        lost = [name for name in _names(before) if name not in set(_names(after))]
        if lost and isinstance(after, ast.Module):
            kept = ", ".join(_names(after)) or "nothing"
            return (
                f"{change.path} defines {', '.join(_names(before))}; the new text keeps {kept} and loses "
                f"{', '.join(lost)}. Use edit_file for the lines that are wrong."
            )
    if rewrite and _shrunk(change):
        return _shrink_text(change)
    return ""


def _parse(text: str | None) -> ast.Module | SyntaxError | None:
    if text is None:
        return None
    try:
        return ast.parse(text.lstrip("\ufeff"))
    except SyntaxError as error:
        return error
    except ValueError as error:  # NUL characters
        return SyntaxError(str(error))


def _later(after: SyntaxError, before: SyntaxError) -> bool:
    return (after.lineno or 0, after.offset or 0) > (before.lineno or 0, before.offset or 0)


def _names(tree: ast.Module | SyntaxError | None) -> list[str]:
    """Functions and classes of a module, and the methods of its classes as Class.method."""
    if not isinstance(tree, ast.Module):
        return []
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.append(node.name)
        elif isinstance(node, ast.ClassDef):
            found.append(node.name)
            found += [
                f"{node.name}.{inner.name}"
                for inner in node.body
                if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
            ]
    return found


def _shrunk(change: FileChange) -> bool:
    old = (change.before or "").count("\n")
    return old > 12 and change.after.count("\n") < old * SHRINK


def _shrink_text(change: FileChange) -> str:
    old, new = (change.before or "").count("\n"), change.after.count("\n")
    return (
        f"{change.path} would shrink from {old} to {new} lines. Use edit_file for the lines that are wrong."
    )
