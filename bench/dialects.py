"""How long one reply of 8 kB takes to read, for each way of writing a call: `python bench/dialects.py [--limit MS]`.

All kinds are measured in one run: processor time, the best and the median of several rounds each; with `--limit` the exit code is 1 when a
best time is above it. A file in play is known already, as it is from a run's second reply on; the first one takes about
2 ms more for 8 kB of it.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "server"))

from regreen.models.dialects import python_text, read_reply
from regreen.tools.menu import ALL

SIZE = 8000


def code(size: int = SIZE - 600) -> str:
    """Python text of about that size, as a model would write it."""
    parts = ['"""Prices and stock."""\n\nfrom decimal import Decimal\n']
    number = 0
    while sum(map(len, parts)) < size:
        number += 1
        parts.append(
            f'\n\ndef price_{number}(amount, rate="0.{number:03d}"):\n    """The price of {number} pieces."""\n'
            f"    if amount < {number}:\n        raise ValueError(f'too few: {{amount}} < {number}')\n"
            f"    table = {{'net': Decimal(amount), 'rate': Decimal(rate)}}\n"
            f"    return table['net'] * (1 + table['rate'])  # line {number}\n"
        )
    return "".join(parts)


CODE = code()
ESCAPED = json.dumps(CODE)[1:-1]
PROSE = "I will look at the function in shop/cart.py and see why the total is wrong. " * 100


def said(content: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def native(name: str, arguments: Any) -> dict[str, Any]:
    return said("", tool_calls=[{"id": "c", "function": {"name": name, "arguments": arguments}}])


def written(content: str) -> dict[str, Any]:
    return native("write_file", {"path": "shop/prices.py", "content": content})


def numbered(text: str) -> str:
    return "".join(f"{n:4d}| {line}\n" for n, line in enumerate(text.splitlines(), 1))


CALL = json.dumps({"name": "write_file", "arguments": {"path": "shop/prices.py", "content": CODE}})
CHANGED = CODE.replace("if amount < 3:", "if amount <= 3:")
HEADINGS = "Title\n=======\n\nSome words about it.\n\n" * 100
FENCED = CODE.replace(' pieces."""', ' pieces.\n\n    ```\n    price()\n    ```\n    """')
TAGGED = CODE.replace(' pieces."""', ' pieces: </parameter>\n</function>"""')
FILES = {"shop/prices.py": CODE}
LOOPED = (
    "@@ -1 +1 @@\n", "*** Update File: a.py\n", "diff --git a b\n", "a.py\n```python\nx=1\n```\n", "```python\n", "{}", "{",
    "tool input {}", '{"name":"x",', "<a", '\\"', "Action: edit_file\n", "<function=edit_file>",
)  # fmt: skip
"""What small models write again and again when they are in a loop."""


def loop(unit: str) -> tuple[dict[str, Any], dict[str, str]]:
    return said((unit * (SIZE // len(unit) + 1))[:SIZE]), FILES


KINDS: dict[str, Callable[[], tuple[dict[str, Any], dict[str, str]]]] = {
    "native call": lambda: (written(CODE), {}),
    "native call, arguments as text": lambda: (
        native("write_file", json.dumps({"path": "p.py", "content": CODE})),
        {},
    ),
    "tool_call tag": lambda: (said(f"<tool_call>\n{CALL}\n</tool_call>"), {}),
    "bare JSON": lambda: (said(CALL), {}),
    "JSON fence with prose": lambda: (said(f"Here it is.\n```json\n{CALL}\n```\nDone."), {}),
    "JSON with raw newlines": lambda: (said(CALL.replace(ESCAPED, CODE.replace('"', '\\"'))), {}),
    "JSON, trailing commas": lambda: (said(CALL.replace("}}", ",},}")), {}),
    "JSON, unescaped quotes": lambda: (said(CALL.replace('\\"', '"')), {}),
    "JSON cut in the text": lambda: (said(CALL[:-400]), {}),
    "Python dictionary": lambda: (said(repr(json.loads(CALL))), {}),
    "XML parameters": lambda: (
        said(
            f"<function=write_file>\n<parameter=path>p.py</parameter>\n<parameter=content>\n{CODE}</parameter>\n</function>"
        ),
        {},
    ),
    "element per tool": lambda: (
        said(f"<write_file><path>p.py</path><content>\n{CODE}</content></write_file>"),
        {},
    ),
    "pythonic call": lambda: (said(f"write_file(path='p.py', content={CODE!r})"), {}),
    "mistral marker": lambda: (said("[TOOL_CALLS]" + CALL), {}),
    "react": lambda: (
        said(f"Action: write_file\nAction Input: {json.dumps({'path': 'p.py', 'content': CODE})}"),
        {},
    ),
    "search/replace block": lambda: (
        said(f"p.py\n<<<<<<< SEARCH\n{CODE[:3700]}\n=======\n{CODE[3700:]}\n>>>>>>> REPLACE"),
        {},
    ),
    "block full of headings": lambda: (
        said(f"a.rst\n<<<<<<< SEARCH\n{HEADINGS}\n=======\n{HEADINGS}\n>>>>>>> REPLACE"),
        {"a.rst": HEADINGS},
    ),
    "fences in docstrings": lambda: (said(f"```python\n{FENCED}```"), FILES),
    "closing tags in the text": lambda: (
        said(
            f"<function=write_file>\n<parameter=path>p.py</parameter>\n<parameter=content>\n{TAGGED}</parameter>\n</function>"
        ),
        {},
    ),
    "triple quotes in JSON": lambda: (
        said('{"name": "write_file", "arguments": {"path": "p.py", "content": """' + CODE + '"""}}'),
        {},
    ),
    "attempts that count up": lambda: (
        said("".join(f"Attempt {n}: let me check the cart.\n" for n in range(220))),
        {},
    ),
    "unified diff": lambda: (
        said(
            "--- a/p.py\n+++ b/p.py\n@@ -1,9 +1,9 @@\n"
            + "\n".join(" " + line for line in CODE.splitlines())
            + "\n-a\n+b\n"
        ),
        {},
    ),
    "function in a fence, spliced": lambda: (said(f"```python\n{CHANGED}```"), FILES),
    "one function of a long file": lambda: (
        said("```python\ndef price_3(amount, rate='0.003'):\n    return Decimal(amount)\n```" + PROSE[:7000]),
        FILES,
    ),
    "edit that fits nowhere": lambda: (
        native(
            "edit_file",
            {"path": "shop/prices.py", "find": CODE[400:1600].replace("amount", "count"), "replace": "x"},
        ),
        FILES,
    ),
    "thinking before a call": lambda: (
        said(f"<think>{PROSE}</think>" + '{"name": "run_tests", "arguments": {}}'),
        {},
    ),
    "thinking never closed": lambda: (said("<think>" + PROSE), {}),
    "prose without a call": lambda: (said(PROSE), {}),
    "a loop": lambda: (said("I will fix the loop. " * 380), {}),
    "many calls": lambda: (said('{"name": "read_file", "arguments": {"path": "shop/cart.py"}}\n' * 110), {}),
    "many broken calls": lambda: (said('{"name": "read_file", "arguments": {"path": "shop/ca\n' * 150), {}),
    "many braces": lambda: (said('{"name": ' * 800), {}),
    **{f"a loop of {unit!r}": functools.partial(loop, unit) for unit in LOOPED},
    "text: newlines escaped": lambda: (written(CODE.replace("\n", "\\n")), {}),
    "text: entities": lambda: (written(CODE.replace("<", "&lt;").replace('"', "&quot;")), {}),
    "text: line numbers": lambda: (written(numbered(CODE[:6500])), {}),
    "text: plus signs": lambda: (written("".join("+" + line for line in CODE.splitlines(True))), {}),
    "text: fence and talk": lambda: (written(f"Here is the file:\n```python\n{CODE}```\nIt works."), {}),
    "text: curly quotes": lambda: (written(CODE.replace('"', "”")), {}),
    "text: quotes escaped": lambda: (written(CODE.replace('"', '\\"')), {}),
    "text: strings broken over lines": lambda: (written(CODE + "\nx = 'a\n'\n"), {}),
    "text: talk at the end": lambda: (
        written(CODE + "\nThis version handles every case as the tests expect.\n"),
        {},
    ),
    "text: lost functions": lambda: (written(CODE[: CODE.index("def price_9")]), FILES),
}


def measure(rounds: int) -> list[tuple[str, int, float, float]]:
    """For each kind its name, the size of the reply in characters, best and median milliseconds."""
    rows: list[tuple[str, int, float, float]] = []
    for name, make in KINDS.items():
        message, files = make()
        times: list[float] = []
        read_reply(message, ALL, files)
        for _ in range(rounds):
            python_text._parsed.cache_clear()  # a real reply is new text
            for text in files.values():  # the file in play is known from the reply before
                python_text.tree_of(text)
            start = time.thread_time()
            read_reply(message, ALL, files)
            times.append((time.thread_time() - start) * 1000)
        rows.append(
            (name, len(json.dumps(message, ensure_ascii=False)), min(times), statistics.median(times))
        )
    return rows


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument(
        "--limit", type=float, help="exit with 1 when a best time is above this many milliseconds"
    )
    given = options.parse_args()
    rows = measure(given.rounds)
    print(f"{'kind':34} {'chars':>7} {'best ms':>8} {'median':>8}")
    for name, size, best, median in sorted(rows, key=lambda row: -row[2]):
        print(f"{name:34} {size:7d} {best:8.2f} {median:8.2f}")
    slow = [name for name, _, best, _ in rows if given.limit and best > given.limit]
    if slow:
        print(f"above {given.limit} ms: {', '.join(slow)}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
