"""Which other test files reach the code in question: by what they import, without running anything."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from posixpath import basename, dirname


def is_test(path: str) -> bool:
    """True for test files, conftest.py and anything in a folder of tests."""
    name = basename(path)
    inside = any(part in ("tests", "test") for part in dirname(path).split("/"))
    return name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py") or inside


def runs(path: str) -> bool:
    """True for files that pytest collects tests from by default."""
    name = basename(path)
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def imported(text: str) -> set[str]:
    """Last and full dotted names of everything a file imports; empty when it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            found |= {base, *(f"{base}.{alias.name}".lstrip(".") for alias in node.names)}
    return {name for name in found if name}


def modules_of(path: str) -> set[str]:
    """Dotted names under which a file may be imported, whatever folder is on the path."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    return {".".join(parts[i:]) for i in range(len(parts))}


def test_files(
    changed: Iterable[str], files: Sequence[str], read: Callable[[str], str | None], skip: str, most: int = 20
) -> list[str]:
    """Test files (other than `skip`) that import a changed file, directly or through one other file first."""
    python = [path for path in files if path.endswith(".py")][:2000]
    names = {path: imported(read(path) or "") for path in python}
    wanted = {name for path in changed for name in modules_of(path)}
    found: list[str] = []
    for _ in range(3):
        direct = [path for path, used in names.items() if used & wanted]
        found += [path for path in direct if runs(path) and path != skip and path not in found]
        wanted = {name for path in direct if not is_test(path) for name in modules_of(path)}
        if not wanted or len(found) >= most:
            break
    return found[:most]
