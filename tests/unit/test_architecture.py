"""The invariants of docs/architecture.md that can be read off the imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = Path(__file__).resolve().parents[2] / "server"
PACKAGE = SERVER / "regreen"
NATIVE = ("ollama", "openai", "httpx", "pydantic", "json_repair", "rich", "pygls", "lsprotocol")


def imports(file: Path) -> Iterator[str]:
    """Every module that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def imported_by(folder: str) -> dict[str, set[str]]:
    """The imports of each file below a folder of the package."""
    files = sorted((PACKAGE / folder).rglob("*.py"))
    assert files, folder
    return {str(file.relative_to(PACKAGE)): set(imports(file)) for file in files}


def breaches(folder: str, forbidden: tuple[str, ...]) -> list[str]:
    return [
        f"{file} imports {name}"
        for file, names in imported_by(folder).items()
        for name in sorted(names)
        if any(name == bad or name.startswith(f"{bad}.") for bad in forbidden)
    ]


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("agent", ("subprocess", "socket", "http", "httpx", "ollama", "openai", "pygls", "lsprotocol", "urllib")),
        ("agent", ("regreen.run", "regreen.lsp", "regreen.models", "regreen.repair", "regreen.tools", "regreen.testing")),
        ("tools", ("regreen.run", "regreen.lsp", "regreen.models", "regreen.repair", "subprocess")),
        ("workspace", ("regreen.run", "regreen.lsp", "regreen.models", "regreen.repair", "regreen.agent", "regreen.tools")),
        ("testing", ("regreen.run", "regreen.lsp", "regreen.models", "regreen.repair", "regreen.agent", "regreen.tools")),
        ("models", ("regreen.run", "regreen.lsp")),
        ("repair", ("regreen.run", "regreen.lsp", "regreen.models")),
        ("run", ("regreen.lsp", "pygls", "lsprotocol")),
        ("lsp", ("regreen.run", "regreen.models", "regreen.repair", "regreen.tools")),
    ],
)  # fmt: skip
def test_data_flows_one_way(folder: str, forbidden: tuple[str, ...]) -> None:
    assert breaches(folder, forbidden) == []


def test_only_lsp_knows_the_protocol() -> None:
    outside = [f for f in sorted(PACKAGE.iterdir()) if f.is_dir() and f.name not in ("lsp", "__pycache__")]
    assert outside
    for folder in outside:
        assert breaches(folder.name, ("pygls", "lsprotocol")) == []


def test_a_run_with_the_built_in_search_needs_the_standard_library_and_platformdirs_alone() -> None:
    """An extension starts runs before anything was installed."""
    script = (
        "import sys\n"
        f"sys.path.insert(0, {str(SERVER)!r})\n"
        "import regreen.cli, regreen.run.fix, regreen.run.protocol, regreen.models.builtin\n"
        f"print([name for name in {NATIVE!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_no_module_is_overlong() -> None:
    long = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if file.read_text(encoding="utf-8").count("\n") > 400
    }
    assert long == set()
