"""Candidate edits: what they reach, and what they leave alone."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest

from regreen.repair.operators import candidates
from regreen.repair.operators.site import Hints, Project, fields, signatures
from regreen.repair.source import Source

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = [
    *sorted((ROOT / "toy_repo" / "shop").glob("*.py")),
    ROOT / "server" / "regreen" / "workspace" / "changes.py",
    ROOT / "server" / "regreen" / "testing" / "report.py",
    ROOT / "server" / "regreen" / "agent" / "loop.py",
]


def edits_of(text: str, hints: Hints | None = None) -> list[str]:
    source = Source("code.py", text)
    lines = range(1, text.count("\n") + 2)
    project = Project(signatures(source), tuple(fields(source)), hints or Hints())
    return [edit.apply(text) for edit in candidates(source, project, lines)]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_edits_of_real_files_parse_and_keep_all_other_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    source = Source(path.name, text)
    lines = range(1, min(text.count("\n") + 2, 120))
    bad = 0
    every = candidates(source, Project(signatures(source)), lines)
    edits = every[:: max(1, len(every) // 300)]
    for edit in edits:
        changed = edit.apply(text)
        assert changed != text
        low, high = edit.span
        assert changed.startswith(text[:low])
        assert changed.endswith(text[high:])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ast.parse(changed)
            except SyntaxError:
                bad += 1
    assert bad <= len(edits) * 0.02


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a, b):\n    return a < b\n", "def f(a, b):\n    return a <= b\n"),
        ("def f(a, b):\n    return a and b\n", "def f(a, b):\n    return a or b\n"),
        ("def f(a, b, c):\n    return (a or b) and c\n", "def f(a, b, c):\n    return (a or b) or c\n"),
        ("def f(a):\n    if not a:\n        g()\n", "def f(a):\n    if a:\n        g()\n"),
        ("def f(a, b):\n    return g(a, b)\n", "def f(a, b):\n    return g(b, a)\n"),
        ("def f(a, b):\n    return a - b * 2\n", "def f(a, b):\n    return (a - b) * 2\n"),
        ("def f(n):\n    return range(n)\n", "def f(n):\n    return range(n + 1)\n"),
        ("def f(a, i):\n    return a[i:]\n", "def f(a, i):\n    return a[i + 1:]\n"),
        ("def f(a):\n    return a\n", "def f(a):\n    return sorted(a)\n"),
        ("def f(a):\n    a.append(1)\n", "def f(a):\n    a.append(1)\n    return a\n"),
        ("def f(a, b=[]):\n    return b\n", "def f(a, b=None):\n    if b is None:\n        b = []\n    return b\n"),
        ("def f(a):\n    for x in a:\n        g()\n        return x\n", "def f(a):\n    for x in a:\n        g()\n    return x\n"),
        ("def f(x):\n    y = x\n    x = 1\n    return y\n", "def f(x):\n    x = 1\n    y = x\n    return y\n"),
        ("def f(n):\n    return n * f(n - 1)\n", "def f(n):\n    if n <= 0:\n        return 0\n    return n * f(n - 1)\n"),
        ("async def f(x):\n    return g(x)\n", "async def f(x):\n    return await g(x)\n"),
        ("def f(u):\n    if u.a:\n        g()\n    if u.b:\n        g()\n", "def f(u):\n    if u.a:\n        g()\n    if u.b and u.a:\n        g()\n"),
        ("def f(a):\n    return (x for x in a)\n", "def f(a):\n    return (x for x in a if x)\n"),
        ("def f(a):\n    try:\n        g()\n    except KeyError:\n        pass\n", "def f(a):\n    try:\n        g()\n    except ValueError:\n        pass\n"),
        ("def f(us):\n    return [u for u in us if u.a]\n\n\nclass U:\n    a: bool\n    b: bool\n", "def f(us):\n    return [u for u in us if u.a and u.b]\n\n\nclass U:\n    a: bool\n    b: bool\n"),
        ("def f(n):\n    return n.a and n.b.c\n\n\ndef is_ok(n):\n    return True\n", "def f(n):\n    return n.a and n.b.c and is_ok(n)\n\n\ndef is_ok(n):\n    return True\n"),
        ("def f(n):\n    if n.next.x:\n        g()\n", "def f(n):\n    if n.next is None or n.next.x:\n        g()\n"),
        ("def f(n):\n    return max(f(x) for x in n['sub'])\n", "def f(n):\n    if not n.get('sub'):\n        return 1\n    return max(f(x) for x in n['sub'])\n"),
        ("def f(a, i, n):\n    return a[i:n]\n", "def f(a, i, n):\n    return a[i:i + n]\n"),
        ("def f(a):\n    if a.startswith('ab'):\n        return a\n", "def f(a):\n    if a.startswith('ab'):\n        return a[2:]\n"),
        ("def f(a):\n    return []\n", "def f(a):\n    return [a]\n"),
        ("def f(a):\n    return a\n", "def f(a):\n    return [int(each) for each in a]\n"),
        ("def f(a):\n    return f'{a:>8}'\n", "def f(a):\n    return f'{a:>8.2f}'\n"),
        ("def f(x):\n    g[x].update(h[x])\n", "def f(x):\n    g[x] = h[x]\n"),
        ("def f(u, v):\n    w[u, v] = min(n[v], n[u])\n", "def f(u, v):\n    n[v] = min(n[v], n[u])\n"),
        ("def f(x, seen):\n    if x in seen:\n        return x\n    g(x)\n", "def f(x, seen):\n    if x in seen:\n        return x\n    g(x)\n    seen.add(x)\n"),
        ("def f(a):\n    for x in a:\n        return x\n        g(x)\n        h(x)\n", "def f(a):\n    for x in a:\n        g(x)\n        h(x)\n        return x\n"),
        ("class A:\n    def put(self, x):\n        n = self.n + 1\n\n    def __init__(self):\n        self.n = 0\n", "class A:\n    def put(self, x):\n        self.n = self.n + 1\n\n    def __init__(self):\n        self.n = 0\n"),
        ("class A:\n    def f(self, x):\n        self.a.append(x)\n\n    def g(self):\n        self.b.clear()\n", "class A:\n    def f(self, x):\n        self.a.append(x)\n        self.b.clear()\n\n    def g(self):\n        self.b.clear()\n"),
        ("class A:\n    items = []\n\n    def __init__(self, x):\n        self.x = x\n", "class A:\n    items = []\n\n    def __init__(self, x):\n        self.items = []\n        self.x = x\n"),
        ("class A(B):\n    def __init__(self, x, y):\n        self.y = y\n\n\nclass B:\n    def __init__(self, x):\n        self.x = x\n", "class A(B):\n    def __init__(self, x, y):\n        super().__init__(x)\n        self.y = y\n\n\nclass B:\n    def __init__(self, x):\n        self.x = x\n"),
    ],
)  # fmt: skip
def test_it_reaches(before: str, after: str) -> None:
    assert after in edits_of(before)


def test_a_forgotten_argument_is_passed_on() -> None:
    text = "def tax(net, kind='a'):\n    return kind\n\n\ndef total(net, kind):\n    return tax(net)\n"
    assert text.replace("tax(net)\n", "tax(net, kind=kind)\n") in edits_of(text)


def test_a_text_is_changed_to_what_the_assertion_shows() -> None:
    text = "def f(n):\n    return 'Total: ' + n + ' EUR'\n"
    hints = Hints(texts=("Total: 5 EUR", "Total: 5 USD"))
    assert text.replace("EUR", "USD") in edits_of(text, hints)


def test_the_answer_is_not_copied_out_of_the_assertion() -> None:
    text = "def f(n):\n    return ''\n"
    hints = Hints(left="''", right="'wholly different'", texts=("", "wholly different"))
    assert not any("wholly" in changed for changed in edits_of(text, hints))


def test_a_missing_check_raises_what_the_test_waits_for() -> None:
    text = "def book(count):\n    return count\n"
    hints = Hints(type="Failed", message="DID NOT RAISE <class 'ValueError'>")
    assert any("if count < 0:\n        raise ValueError(" in changed for changed in edits_of(text, hints))


def test_docstrings_and_annotations_are_left_alone() -> None:
    text = 'def f(a: int) -> int:\n    """Adds 1 to a."""\n    return a\n'
    for changed in edits_of(text):
        assert '"""Adds 1 to a."""' in changed
        assert "(a: int) -> int" in changed


def test_deletions_come_last() -> None:
    text = "def f(a, b):\n    a = a + b\n    g(a)\n    return a\n"
    source = Source("code.py", text)
    edits = candidates(source, Project(), range(1, 5))
    deletions = [edit.weight for edit in edits if edit.kind == "deleted"]
    assert deletions
    assert max(deletions) < 0.2 * max(edit.weight for edit in edits)


def test_a_line_between_functions_is_not_edited_twice() -> None:
    text = "def f(a):\n    return a\n"
    changed = edits_of(text)
    assert len(changed) == len(set(changed))
