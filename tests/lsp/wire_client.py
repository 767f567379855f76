"""A raw LSP client for tests: real bytes to a real server process, and nothing in between that is polite."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Message = dict[str, Any]
Answer = Callable[[Message], Any]

FULL = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "changeAnnotationSupport": {"groupsOnLabel": True},
        },
    },
    "window": {"workDoneProgress": True, "showMessage": {}},
    "textDocument": {
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "tagSupport": {"valueSet": [1]},
        }
    },
}


class NoAnswer:
    """What an `on` function returns to leave a request open."""


class Client:
    """One server process. Requests of the server are answered by the functions in `answers`."""

    def __init__(
        self,
        command: list[str] | None = None,
        env: dict[str, str] | None = None,
        stderr: Path | None = None,
        process_id: int | None = None,
    ) -> None:
        self.stderr_path = stderr
        self.process = subprocess.Popen(
            command or [sys.executable, "-m", "regreen", "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr.open("wb") if stderr else None,
            env={**os.environ, **(env or {})},
        )
        self.process_id = process_id
        self.messages: list[Message] = []
        self.raw = bytearray()
        self.answers: dict[str, Answer] = {}
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.ended = threading.Event()
        self._changed = threading.Condition()
        self._next = 0
        self._seen = 0
        threading.Thread(target=self._read, daemon=True).start()

    # --- the wire --------------------------------------------------------------------------------------

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        body = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def _read(self) -> None:
        stdout = self.process.stdout
        assert stdout
        with contextlib.suppress(ValueError, OSError):
            while header := stdout.readline():
                size = 0
                while header.strip():
                    match = re.match(rb"content-length: (\d+)", header, re.IGNORECASE)
                    size = int(match.group(1)) if match else size
                    if not match and not header.lower().startswith(b"content-type"):
                        self.raw += header
                    header = stdout.readline()
                self._take(json.loads(stdout.read(size)))
        self.ended.set()
        with self._changed:
            self._changed.notify_all()

    def _take(self, message: Message) -> None:
        message["_at"] = time.perf_counter()
        with self._changed:
            self.messages.append(message)
            self._changed.notify_all()
        if "method" in message and "id" in message:
            self._answer(message)

    def _answer(self, message: Message) -> None:
        answer = self.answers.get(message["method"])
        reply: Message = {"jsonrpc": "2.0", "id": message["id"]}
        if answer is None:
            known = message["method"] == "window/workDoneProgress/create"
            reply |= {"result": None} if known else {"error": {"code": -32601, "message": "not found"}}
        else:
            result = answer(message)
            if result is NoAnswer:
                return
            reply |= result if isinstance(result, dict) and "error" in result else {"result": result}
        self.send(reply)

    # --- waiting ---------------------------------------------------------------------------------------

    def wait(self, wanted: Callable[[Message], bool], timeout: float = 15.0) -> Message:
        """The first message, past or to come, that is wanted."""
        deadline = time.monotonic() + timeout
        index = 0
        with self._changed:
            while True:
                while index < len(self.messages):
                    if wanted(self.messages[index]):
                        return self.messages[index]
                    index += 1
                left = deadline - time.monotonic()
                if left <= 0 or self.ended.is_set():
                    tail = [str(message)[:300] for message in self.messages[-12:]]
                    raise AssertionError("never came; the last messages:\n" + "\n".join(tail))
                self._changed.wait(left)

    def notified(self, method: str, timeout: float = 15.0, **fields: Any) -> Message:
        """The params of the first notification or request of this method with these fields."""

        def wanted(message: Message) -> bool:
            params = message.get("params") or {}
            return message.get("method") == method and all(params.get(k) == v for k, v in fields.items())

        return self.wait(wanted, timeout)["params"]

    def all(self, method: str) -> list[Message]:
        with self._changed:
            return [m["params"] for m in self.messages if m.get("method") == method]

    def request(self, method: str, params: Any = None, timeout: float = 15.0) -> Message:
        """Send a request and return the whole reply."""
        ident = self.ask(method, params)
        return self.wait(lambda m: m.get("id") == ident and "method" not in m, timeout)

    def ask(self, method: str, params: Any = None) -> int:
        self._next += 1
        message: Message = {"jsonrpc": "2.0", "id": self._next, "method": method}
        self.send(message | ({"params": params} if params is not None else {}))
        return self._next

    def notify(self, method: str, params: Any = None) -> None:
        message: Message = {"jsonrpc": "2.0", "method": method}
        self.send(message | ({"params": params} if params is not None else {}))

    # --- the session -----------------------------------------------------------------------------------

    def initialize(
        self, *folders: Path, capabilities: Message | None = None, options: Message | None = None
    ) -> Message:
        reply = self.request(
            "initialize",
            {
                "processId": self.process_id,
                "rootUri": folders[0].as_uri() if folders else None,
                "capabilities": FULL if capabilities is None else capabilities,
                "workspaceFolders": [{"uri": f.as_uri(), "name": f.name} for f in folders] or None,
                "initializationOptions": options,
            },
        )
        self.notify("initialized", {})
        return reply["result"]

    def open(self, path: Path, text: str | None = None) -> str:
        uri = path.as_uri()
        self.texts[uri] = path.read_bytes().decode() if text is None else text
        self.versions[uri] = 1
        item = {"uri": uri, "languageId": "python", "version": 1, "text": self.texts[uri]}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    def change(self, uri: str, text: str) -> None:
        """Replace the whole text of an open document."""
        self.versions[uri] += 1
        self.texts[uri] = text
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": self.versions[uri]}, "contentChanges": [{"text": text}]},
        )

    def save(self, uri: str, path: Path) -> None:
        path.write_bytes(self.texts[uri].encode())
        self.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def actions(self, uri: str, line: int, **context: Any) -> list[Message] | None:
        place = {"line": line, "character": 4}
        reply = self.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": uri},
                "range": {"start": place, "end": place},
                "context": {"diagnostics": [], **context},
            },
        )
        return reply["result"]

    def execute(self, command: str, *arguments: Any) -> Message:
        return self.request("workspace/executeCommand", {"command": command, "arguments": list(arguments)})

    def fix(self, uri: str, *names: str) -> str:
        reply = self.execute("regreen.fix", {"uri": uri, "target": "", "names": list(names)})
        assert reply["result"]["run"], reply
        return reply["result"]["run"]

    def outcome(self, run: str, timeout: float = 15.0) -> Message:
        return self.notified("regreen/outcome", timeout, run=run)

    def apply(self, message: Message) -> Message:
        """Play an editor that carries out an applyEdit, and tells the server about it before it answers."""
        for change in message["params"]["edit"]["documentChanges"]:
            if change.get("kind") == "create":
                continue
            uri = change["textDocument"]["uri"]
            if uri not in self.texts:
                self.texts[uri] = ""
                self.versions[uri] = 0
                path = Path(uri.removeprefix("file://"))
                self.open(path, path.read_bytes().decode() if path.exists() else "")
            assert change["textDocument"]["version"] in (None, self.versions[uri])
            self.change(uri, edited(self.texts[uri], change["edits"]))
        return {"applied": True}

    def close(self) -> int:
        """Leave as a good client does."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(10)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)


def edited(text: str, edits: list[Message]) -> str:
    """The text after LSP edits, whose columns count UTF-16 units."""
    starts = [0] + [m.end() for m in re.finditer(r"\r\n|\r|\n", text)]

    def offset(position: Message) -> int:
        if position["line"] >= len(starts):
            return len(text)
        begin = starts[position["line"]]
        line = text[begin:].encode("utf-16-le")
        return begin + len(line[: position["character"] * 2].decode("utf-16-le"))

    spans = [(offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"]) for e in edits]
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def received(log: Path) -> list[Any]:
    """What the fake run read, line by line."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return [line["input"] for line in lines if "input" in line]
