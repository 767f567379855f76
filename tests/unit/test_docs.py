"""What docs/how-it-works.md and docs/architecture.md name exists in the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "server/regreen"


@pytest.mark.parametrize("page", ["how-it-works.md", "architecture.md"])
def test_every_file_that_is_named_exists(page: str) -> None:
    text = (PROJECT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*/(?:[a-z_]+\.py)?)`", text)
    assert named
    roots = (PACKAGE, PROJECT, PROJECT / "tests", PROJECT / "vscode-extension")
    inner = {f"{folder.name}/" for folder in PACKAGE.rglob("*") if folder.is_dir()}
    missing = [
        name for name in named if name not in inner and not any((root / name).exists() for root in roots)
    ]
    assert missing == []


def test_every_class_and_method_that_is_explained_exists() -> None:
    text = (PROJECT / "docs/how-it-works.md").read_text(encoding="utf-8")
    code = "\n".join(file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py"))
    known = {"Cart.add"}  # the toy shop's own
    dotted = {name for name in re.findall(r"`([A-Z]\w+\.\w+)`", text) if name not in known}
    assert dotted
    for name in dotted:
        owner, _, method = name.partition(".")
        [body] = re.findall(rf"(?ms)^class {owner}\b.*?(?=^class |\Z)", code)
        assert re.search(rf"(?m)^    (async )?def {method}\(", body), name
    for name in re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)*)`", text):
        assert re.search(rf"(?m)^class {name}\b", code), name


def test_every_link_between_the_pages_leads_somewhere() -> None:
    pages = [PROJECT / "README.md", PROJECT / "toy_repo/README.md", *(PROJECT / "docs").glob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
