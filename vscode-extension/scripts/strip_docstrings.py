"""Takes the bare strings (docstrings and the like) out of Python files, to make the VSIX smaller.

    python strip_docstrings.py FOLDER…

Lines keep their numbers, so that a traceback still fits the library as it was published. A string that shares its line
with other code stays.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path


def stripped(source: str) -> str:
    """The source without its bare strings; one that is a whole body becomes `pass`."""
    lines = source.split("\n")
    for body in bodies(ast.parse(source)):
        bare = [node for node in body if is_bare_string(node)]
        for node in bare:
            first, last = node.lineno - 1, node.end_lineno - 1
            before, after = (
                lines[first].encode()[: node.col_offset],
                lines[last].encode()[node.end_col_offset :],
            )
            if before.strip() or (after.strip() and not after.lstrip().startswith(b"#")):
                continue
            lines[first : last + 1] = [""] * (last + 1 - first)
            if len(bare) == len(body) and node is bare[0]:
                lines[first] = before.decode() + "pass"
    return "\n".join(lines)


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements in the tree."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                yield body


def is_bare_string(node: ast.stmt) -> bool:
    """Whether a statement is nothing but a string."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def main() -> None:
    """Strip every Python file below the folders; a file that would mean something else is an error."""
    for folder in sys.argv[1:]:
        for path in sorted(Path(folder).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            short = stripped(source)
            if meaning(short) != meaning(source):
                sys.exit(f"strip_docstrings: {path} would not mean the same")
            path.write_text(short, encoding="utf-8", newline="\n")


def meaning(source: str) -> str:
    """The program without its bare strings, to compare two of them."""
    tree = ast.parse(source)
    for body in bodies(tree):
        rest = [node for node in body if not is_bare_string(node) and not isinstance(node, ast.Pass)]
        body[:] = rest or [ast.Pass()]
    return ast.dump(tree)


if __name__ == "__main__":
    main()
