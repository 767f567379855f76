"""A stand-in for `regreen fix … --json`: speaks the run protocol, and plays the scenario it is told to.

Started as `fake_run.py SCENARIO [LOG] fix TARGET --json …`. LOG gets one JSON line for the command line and one
for each line of input, so that a test sees what the server said.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ARGUMENTS = sys.argv[3:]
TARGET = ARGUMENTS[1].strip() if len(ARGUMENTS) > 1 else ""
LOG = Path(sys.argv[2])
inbox: queue.Queue[dict[str, Any] | None] = queue.Queue()
buffers: dict[str, str] = {}
written = False


def record(entry: dict[str, Any]) -> None:
    with LOG.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def read_input() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        record({"input": message, "at": time.time()})
        if "buffers" in message:
            for path, text in message["buffers"].items():
                if text is None:
                    buffers.pop(path, None)
                else:
                    buffers[path] = text
        inbox.put(message)
    record({"input": "end"})
    inbox.put(None)


def emit(event: str, **fields: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def wait_for(wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    """The next input that is wanted; None when the input ended or the run was cancelled."""
    while True:
        message = inbox.get()
        if message is None or message.get("cancel"):
            return None
        if wanted(message):
            return message


def outcome(name: str, target: str = TARGET, **fields: Any) -> None:
    verdict = {"target": "passed", "fixed": name == "fixed", "passed": 41, "failed": 0}
    base = {
        "outcome": name,
        "target": target,
        "explanation": "The quantity is added now.",
        "confidence": "high",
    }
    more = {"steps": 2, "tokens": {"prompt": 9, "cached": 0, "generated": 5}, "seconds": {}, "edits": []}
    rest = {
        "verdict": verdict,
        "model": "fake",
        "seal": "none",
        "trace": "",
        "run": "rec-1",
        "summary": f"{name}.",
    }
    emit("outcome", **{**base, **more, **rest, **fields})


def begin() -> None:
    wait_for(lambda message: "buffers" in message)  # the first line, always
    emit("started", run="rec-1", target=TARGET, model="fake", seal="none", budget={}, approval="everyEdit")
    failure = {"type": "AssertionError", "message": "assert 1 == 2"}
    emit("evidence", target=TARGET, failure=failure, seconds=0.1)
    budget(1)
    emit("step", n=1)


def budget(step: int) -> None:
    emit("budget", steps=step, max_steps=12, tokens=4100, max_tokens=60000, seconds=3.2, max_seconds=900)


def current(path: str) -> str | None:
    if path in buffers:
        return buffers[path]
    file = Path(path)
    return file.read_bytes().decode() if file.exists() else None


def propose(ident: str, texts: dict[str, str], fixed: bool = True, **more: Any) -> dict[str, Any] | None:
    """Emit a proposal against what the files hold and wait for the decision; carries out "write"."""
    files: list[dict[str, Any]] = []
    for path, after in texts.items():
        before = current(path)
        base = None if before is None else hashlib.sha256(before.encode()).hexdigest()
        diff = difflib.unified_diff(
            (before or "").splitlines(True), after.splitlines(True), f"a/{path}", f"b/{path}"
        )
        files.append({"path": path, "base_sha256": base, "diff": "".join(diff), "text": after})
    verdict = {"target": "passed", "fixed": fixed, "passed": 41, "failed": 0, "progress": "fixed"}
    about = {"why": "Add to the quantity.", "verdict": verdict, "confidence": "high", **more}
    emit("proposal", id=ident, files=files, **about)
    decision = wait_for(lambda message: message.get("proposal") == ident)
    if decision is not None:
        for path in decision.get("write", ()):
            Path(path).write_bytes(texts[path].encode())
        emit("decision", proposal=ident, decision=decision["decision"], reason=decision.get("reason", ""))
    return decision


def changed(path: str, old: str, new: str) -> dict[str, str]:
    text = current(path)
    assert text is not None and old in text, (path, old)
    return {path: text.replace(old, new)}


def fix_in_two() -> None:
    """The first proposal is accepted and moves the failure; the second one fixes."""
    begin()
    emit("call", id="1", name="edit_file", arguments={"path": "shop/cart.py"})
    first = propose("p1", changed("shop/cart.py", "= quantity", "+= quantity"), fixed=False)
    if first is None or first["decision"] == "reject":
        return outcome("rejected" if first else "cancelled")
    budget(2)
    emit("step", n=2)
    second = propose("p2", changed("shop/discounts.py", "> threshold", ">= threshold"))
    outcome("fixed" if second and second["decision"] != "reject" else "rejected")


def one_edit() -> None:
    begin()
    decision = propose("p1", changed("shop/cart.py", "= quantity", "+= quantity"))
    outcome("cancelled" if decision is None else "rejected" if decision["decision"] == "reject" else "fixed")


def unsure() -> None:
    """Few tests pin it down, and there are two more that pass."""
    begin()
    text = changed("shop/cart.py", "= quantity", "+= quantity")
    decision = propose("p1", text, confidence="low", alternatives=2, asks=["shop/cart.py"])
    kept = decision is not None and decision["decision"] != "reject"
    outcome("fixed" if kept else "rejected", confidence="low")


def fake_task() -> None:
    begin()
    outcome("not_verified", explanation="There are no tests. What a check printed: 400")


def untested() -> None:
    """A task that no test decides: it changed a file, and offers to have a test written."""
    begin()
    offered = {"task": f"Write a test for {TARGET}", "command": "regreen ask …", "resume": "rec-1"}
    edits = [{"path": "shop/cart.py", "diff": ""}]
    more = {} if TARGET.startswith("Write a test") else {"edits": edits, "write_test": offered}
    outcome("not_verified", **more)


def two_files() -> None:
    begin()
    texts = changed("shop/cart.py", "= quantity", "+= quantity") | changed(
        "shop/discounts.py", "> threshold", ">= threshold"
    )
    decision = propose("p1", texts)
    outcome("rejected" if not decision or decision["decision"] == "reject" else "fixed")


def new_file() -> None:
    begin()
    decision = propose("p1", {"shop/extra.py": "ANSWER = 42\n"})
    outcome("rejected" if not decision or decision["decision"] == "reject" else "fixed")


def rejected_then_other() -> None:
    begin()
    first = propose("p1", changed("shop/cart.py", "= quantity", "= 99"))
    assert first and first["decision"] == "reject", first
    emit("step", n=2)
    second = propose("p2", changed("shop/cart.py", "= quantity", "+= quantity"))
    outcome("fixed" if second and second["decision"] != "reject" else "rejected")


def outside() -> None:
    begin()
    emit(
        "proposal",
        id="p1",
        why="x",
        files=[{"path": "../outside.py", "base_sha256": None, "diff": "", "text": "x"}],
    )
    decision = wait_for(lambda message: message.get("proposal") == "p1")
    outcome("rejected", explanation=str(decision and decision.get("reason")))


def question() -> None:
    begin()
    emit("question", id="pull", kind="pull", text="Pull it?", choices=["Pull", "Cancel"], default="Cancel")
    answer = wait_for(lambda message: "answer" in message)
    outcome("setup_problem", explanation=f"answered {answer and answer['answer']}")


def crash() -> None:
    begin()
    print("Traceback (most recent call last):", file=sys.stderr)
    print("ZeroDivisionError: division by zero", file=sys.stderr)
    sys.exit(5)


def usage() -> None:
    print("regreen: no such test: test_gone", file=sys.stderr)
    sys.exit(2)


def hang() -> None:
    """Deaf to everything, with a child in a session of its own that holds the pipe open."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL, start_new_session=True)
    record({"pids": [os.getpid(), child.pid]})
    begin()
    while True:
        time.sleep(60)


def wait() -> None:
    """Polite: waits for a cancel, or for {"extend"} to finish."""
    begin()
    message = wait_for(lambda message: "extend" in message)
    outcome("cancelled" if message is None else "budget")


def endless() -> None:
    begin()
    while True:
        sys.stdout.write(json.dumps({"event": "text", "delta": "and so on and on "}) + "\n")


def junk() -> None:
    """Lines that are no events, a very long one, an unknown event."""
    begin()
    print("this is not JSON\n[1, 2]\n{}\n" + json.dumps({"event": 7}))
    print("x" * (1 << 26))
    emit("from_the_future", anything=[1])
    outcome("stuck")


def several() -> None:
    """A target of several tests: an outcome for each, then one for the whole."""
    for name in ("test_a", "test_b"):
        emit("started", run="rec-1", target=name, model="fake", seal="none")
        outcome("fixed" if name == "test_a" else "stuck", target=name)
    outcome("stuck", target="something else", summary="the worst")


def undo() -> None:
    print(f"took back {' '.join(ARGUMENTS[1:]) or 'the last run'}")


def until_buffer() -> None:
    """Ends when the buffer of the cart says it is done."""
    begin()
    wait_for(lambda message: "DONE" in (message.get("buffers", {}).get("shop/cart.py") or ""))
    outcome("stuck")


if __name__ == "__main__":
    if ARGUMENTS[:1] == ["tests"]:  # what pytest collects is no run
        os._exit(0)
    record({"argv": ARGUMENTS, "cwd": str(Path.cwd()), "stdin_tty": sys.stdin.isatty(), "at": time.time()})
    threading.Thread(target=read_input, daemon=True).start()
    scenario = "undo" if ARGUMENTS[:1] == ["undo"] else sys.argv[1]
    globals()[scenario]()
    sys.stdout.flush()
    os._exit(0)
