"""The HTTP side of the scripted model: routes, streaming, and every way to misbehave."""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from scripted import wires
from scripted.answers import Fault, Seen, render, seen
from scripted.policies import POLICIES, Policy
from scripted.state import MODEL, VERSION, Plan, Record, State

_HTML = (
    "<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1><p>squid</p></body></html>"
)


class _Gone(Exception):
    """The client went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def state(self) -> State:
        assert isinstance(self.server, _Http)
        return self.server.state

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    # -- routes --------------------------------------------------------------------------------------

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/scripted/requests":
            return self._json([record.to_json() for record in self.state.records])
        self.state.note(path, {}).headers = {name.lower(): value for name, value in self.headers.items()}
        if path == "/":
            return self._send(200, b"Ollama is running", "text/plain")
        if path == "/api/version":
            return self._json({"version": self.state.version})
        if path == "/api/tags":
            return self._json({"models": self.state.listed()})
        if path == "/api/ps":
            return self._json({"models": self.state.running()})
        if path == "/v1/models":
            names = [
                {"id": n, "object": "model", "created": 0, "owned_by": "library"} for n in self.state.models
            ]
            if self.state.policy.pricing is not None:
                names = [{**entry, "pricing": self.state.policy.pricing} for entry in names]
            return self._json({"object": "list", "data": names})
        self._json({"error": f"not found: {path}"}, 404)

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        try:
            if path == "/api/chat":
                self._chat(path, seen("ollama", body))
            elif path == "/v1/chat/completions":
                self._chat(path, seen("openai", body))
            elif path == "/api/show":
                self._show(path, body)
            elif path == "/api/pull":
                self._pull(path, body)
            else:
                self.state.note(path, body)
                self._json({"error": f"not found: {path}"}, 404)
        except (_Gone, BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _show(self, path: str, body: dict[str, Any]) -> None:
        self.state.note(path, body)
        name = body.get("model", "")
        if not self.state.has(name):
            return self._json({"error": f"model '{name}' not found"}, 404)
        self._json(self.state.shown(name))

    def _pull(self, path: str, body: dict[str, Any]) -> None:
        record = self.state.note(path, body, "pull")
        name = body.get("model", "")
        if self.state.policy.pull_fails:
            self._stream(record, "application/x-ndjson", _lines([wires.PULL[0], wires.PULL_ERROR]))
            return
        self._stream(record, "application/x-ndjson", _lines(wires.PULL))
        self.state.pull(name)

    # -- chat ----------------------------------------------------------------------------------------

    def _chat(self, path: str, request: Seen) -> None:
        model, body = request.body.get("model", ""), request.body
        refusal = self.state.refusal(request)
        if refusal is not None:
            self.state.note(path, body, "turn").ended = "refused"
            return self._refuse(refusal, request.wire)
        options = body.get("options") or {}
        if request.wire == "ollama" and not request.messages:
            record = self.state.note(path, body, "load")
            seconds = self.state.load(model, options.get("num_ctx") or 4096)
            self._wait(seconds, record)
            return self._json({**wires.ollama_loaded(model), "load_duration": int(seconds * 1e9)})
        if body.get("_debug_render_only"):
            self.state.note(path, body, "probe")
            prompt = render(request, self.state.policy.garbled)
            return self._json({"model": model, "_debug_info": {"rendered_template": prompt}})
        plan = self.state.plan(path, request)
        plan.record.headers = {name.lower(): value for name, value in self.headers.items()}
        self._wait(plan.load_seconds, plan.record)
        fault = plan.answer.fault
        if fault is not None and self._break_before(fault, plan, request.wire):
            return
        if request.wire == "ollama":
            self._answer_ollama(plan, model, body.get("stream", True), fault)
        else:
            self._answer_openai(plan, model, bool(body.get("stream")), fault)

    def _break_before(self, fault: Fault, plan: Plan, wire: str) -> bool:
        """Faults that come instead of a reply."""
        if fault.kind == "status":
            plan.record.ended = "refused"
            self._refuse(fault, wire)
        elif fault.kind == "html":
            plan.record.ended = "refused"
            self._send(fault.status, _HTML.encode(), "text/html")
        elif fault.kind == "raw":
            plan.record.ended = "done"
            headers = dict(fault.headers)
            kind = headers.pop("Content-Type", "text/event-stream")
            self._send(fault.status, fault.message.encode(), kind, headers)
        elif fault.kind == "silent":
            self._wait(3600, plan.record)
        else:
            if fault.kind == "slow":
                self._wait(fault.seconds, plan.record)
            return False
        return True

    def _answer_ollama(self, plan: Plan, model: str, stream: bool, fault: Fault | None) -> None:
        if not stream:
            plan.record.ended = "done"
            return self._json(wires.ollama_whole(plan, model))
        chunks = wires.ollama_stream(
            plan, model, self.state.policy.logprobs and bool(plan.record.body.get("logprobs"))
        )
        if fault is not None and fault.kind != "slow":
            chunks = _broken(fault, chunks, wires.ollama_line(model, {"content": "@"}))
        self._stream(plan.record, "application/x-ndjson", _lines(chunks), fault)

    def _answer_openai(self, plan: Plan, model: str, stream: bool, fault: Fault | None) -> None:
        if not stream:
            plan.record.ended = "done"
            return self._json(wires.openai_whole(plan, model))
        chunks = wires.openai_stream(plan, model)
        if fault is not None and fault.kind != "slow":
            same = {"choices": [{"index": 0, "delta": {"content": "@"}, "finish_reason": None}]}
            chunks = _broken(fault, chunks, same)
        ends = fault is None or fault.kind == "slow"
        self._stream(plan.record, "text/event-stream", _events(chunks, ends), fault)

    # -- bytes ---------------------------------------------------------------------------------------

    def _refuse(self, fault: Fault, wire: str) -> None:
        error: Any = fault.message
        if wire == "openai":
            error = {"message": fault.message, "type": "api_error", "code": fault.status, "param": None}
        self._json({"error": error}, fault.status, fault.headers)

    def _json(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(value).encode(), "application/json", headers)

    def _send(self, status: int, data: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, record: Record, kind: str, lines: Iterable[bytes], fault: Fault | None = None) -> None:
        """Send chunks as they come; a client that goes away shows in the record."""
        try:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for line in lines:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            if fault is not None and fault.kind == "reset":
                self._reset()
            if fault is not None and fault.kind == "stall":
                self._wait(3600, record)
            self.wfile.write(b"0\r\n\r\n")
            record.ended = "done"
        except (BrokenPipeError, ConnectionResetError):
            record.ended = record.ended or "aborted"
            raise

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        raise ConnectionResetError

    def _wait(self, seconds: float, record: Record) -> None:
        """Keep the client waiting, and notice when it goes away."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            ready, _, _ = select.select([self.connection], [], [], min(left, 0.05))
            if ready and not self.connection.recv(1, socket.MSG_PEEK):
                record.ended = "aborted"
                raise _Gone


def _lines(chunks: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for chunk in chunks:
        yield json.dumps(chunk, ensure_ascii=False).encode() + b"\n"


def _events(chunks: Iterable[dict[str, Any]], ends: bool) -> Iterator[bytes]:
    yield b": SCRIPTED PROCESSING\n\n"
    for chunk in chunks:
        yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
    if ends:
        yield b"data: [DONE]\n\n"


def _broken(fault: Fault, chunks: Iterator[dict[str, Any]], same: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A stream that goes wrong after some of it has been sent."""
    if fault.kind == "repeat_guard":
        yield from [same] * 31
    elif fault.kind == "error_line":
        yield from islice(chunks, 3)
        yield {"error": fault.message}
    elif fault.kind in ("reset", "stall", "no_done"):
        yield from islice(chunks, 3)
    elif fault.kind == "dropped_length":
        yield from islice(chunks, 6)
        yield {**same, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "length"}
    else:
        yield from chunks


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int, state: State) -> None:
        self.state = state
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error; anything else shows on stderr."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, ValueError)):
            super().handle_error(request, client_address)


class ScriptedServer:
    """A running server; use it as a context manager or call `close`."""

    def __init__(
        self,
        policy: str | Policy = "twopart",
        *,
        port: int = 0,
        models: Iterable[str] = (MODEL,),
        version: str = VERSION,
    ) -> None:
        chosen = POLICIES[policy] if isinstance(policy, str) else policy
        self.state = State(chosen, models, version)
        self._http = _Http(port, self.state)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port it listens on, on 127.0.0.1."""
        return self._http.server_address[1]

    @property
    def url(self) -> str:
        """The address for Ollama clients; OpenAI clients add `/v1`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def records(self) -> list[Record]:
        """Every request so far."""
        return self.state.records

    @property
    def turns(self) -> list[Record]:
        """The requests that asked for a turn of a run (no probe, no warming, no preload)."""
        return [record for record in self.records if record.kind == "turn"]

    def close(self) -> None:
        """Stop listening."""
        self._http.shutdown()
        self._http.server_close()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
