"""How quickly the language server answers: actions and lenses on a file of 5,000 lines, click to first progress.

Run: python bench/lsp.py [--json]. Times are in milliseconds, measured from the client's side of the pipe.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path[0] = str(PROJECT / "tests")  # in place of this folder, where "lsp" is this file

from lsp.wire_client import Client  # noqa: E402

ROUNDS = 40


def source(lines: int) -> str:
    """A test file of about so many lines: functions, parametrized ones, classes with methods."""
    blocks: list[str] = ["import pytest\nfrom shop.cart import Cart\n\n"]
    count = 0
    while count < lines:
        number = len(blocks)
        block = (
            f"\n@pytest.mark.parametrize('a,b', [(1, 2), (3, 4)])\ndef test_case_{number}(a, b):\n"
            "    cart = Cart()\n    cart.add('apple', a)\n    for line in cart.lines():\n"
            "        assert line.price == b * 3, f'wrong {line}'\n\n"
            f"\nclass TestGroup{number}:\n    def test_one(self):\n        assert Cart().total() == 0\n\n"
            f"    def test_two(self):\n        assert Cart().subtotal() == {number}\n\n"
        )
        blocks.append(block)
        count += block.count("\n")
    return "".join(blocks)


def summary(milliseconds: list[float]) -> dict[str, float]:
    """Median, 95th percentile and worst of some times."""
    ordered = sorted(milliseconds)
    return {
        "median": round(statistics.median(ordered), 2),
        "p95": round(ordered[int(len(ordered) * 0.95) - 1], 2),
        "worst": round(ordered[-1], 2),
    }


def timed(action: Any) -> float:
    """Milliseconds of one call."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def answers(folder: Path) -> dict[str, Any]:
    """Requests on a file of 5,000 lines, as opened, unchanged, and after an edit of one line."""
    text = source(5000)
    path = folder / "test_large.py"
    path.write_text(text)
    client = Client()
    client.initialize(folder)
    uri = path.as_uri()

    def lens() -> None:
        client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})

    def first() -> None:
        client.open(path)
        lens()

    found: dict[str, Any] = {"lines": text.count("\n"), "open to first lenses": round(timed(first), 2)}
    lines = [n for n, line in enumerate(text.split("\n")) if "cart.add" in line]

    def edit(number: int) -> None:
        line = lines[number * 7 % len(lines)]
        span = {"start": {"line": line, "character": 4}, "end": {"line": line, "character": 4}}
        document = {"uri": uri, "version": number + 2}
        change = {"textDocument": document, "contentChanges": [{"range": span, "text": "x = 1; "}]}
        client.notify("textDocument/didChange", change)

    found["code action"] = summary([timed(lambda n=n: client.actions(uri, lines[n])) for n in range(ROUNDS)])
    found["code lenses"] = summary([timed(lens) for _ in range(ROUNDS)])
    times: list[float] = []
    for number in range(ROUNDS):
        edit(number)
        times.append(timed(lambda n=number: client.actions(uri, lines[n * 7 % len(lines)])))
    found["code action after an edit"] = summary(times)
    times = []
    for number in range(ROUNDS):
        edit(ROUNDS + number)
        times.append(timed(lens))
    found["code lenses after an edit"] = summary(times)
    client.close()
    return found


def clicks(folder: Path) -> dict[str, Any]:
    """From executeCommand to its answer, to the progress, and to the first event of a run."""
    test = folder / "test_small.py"
    test.write_text("def test_a():\n    assert 0\n")
    log = folder / "log"
    fake = PROJECT / "tests" / "lsp" / "fake_run.py"
    command = json.dumps([sys.executable, str(fake), "wait", str(log)])
    client = Client(env={"REGREEN_RUN_COMMAND": command})
    client.initialize(folder)
    uri = client.open(test)
    marks: dict[str, list[float]] = {"answer": [], "progress": [], "first event": []}
    for _ in range(10):
        seen, start = len(client.messages), time.perf_counter()
        run = client.fix(uri, "test_a")
        marks["answer"].append((time.perf_counter() - start) * 1000)

        def begun(message: dict[str, Any], start: float = start) -> bool:
            new = message["_at"] > start and message.get("method") == "$/progress"
            return new and message["params"]["value"]["kind"] == "begin"

        marks["progress"].append((client.wait(begun)["_at"] - start) * 1000)
        event = client.wait(
            lambda m, run=run: m.get("method") == "regreen/step" and m["params"]["run"] == run
        )
        marks["first event"].append((event["_at"] - start) * 1000)
        assert len(client.messages) > seen
        client.execute("regreen.cancel", {"run": run})
        client.outcome(run)
        time.sleep(0.3)
    client.close()
    return {f"click to {name}": summary(times) for name, times in marks.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    gc.disable()  # the client keeps every message, and looking through them all would count as the server's time
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        client = Client()
        client.initialize(Path(folder))
        found: dict[str, Any] = {"start to initialized": round((time.perf_counter() - start) * 1000, 1)}
        found["exit"] = round(timed(client.close), 1)
        found |= answers(Path(folder)) | clicks(Path(folder))
    if options.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:28} {value}")


if __name__ == "__main__":
    main()
