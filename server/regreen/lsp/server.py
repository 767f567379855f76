"""The language server: what it offers, and its life from `initialize` to `exit`.

It never runs an agent, a model or a test. Each run is a process of its own (regreen.lsp.run), so nothing a
run does can block an answer, break the wire, or outlive a cancel.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from lsprotocol import types as lsp
from pygls.capabilities import get_capability

from regreen import __version__
from regreen.errors import RegreenError, UsageError
from regreen.lsp import wire
from regreen.lsp.collector import Collector
from regreen.lsp.documents import file_path
from regreen.lsp.editor import Editor
from regreen.lsp.order import (
    make_order,
    make_task,
    test_file,
    wanted_names,
    wanted_resume,
    wants_unlocked,
)
from regreen.lsp.process import run_command
from regreen.lsp.progress import one_line, part
from regreen.lsp.protocol import BaseServer
from regreen.lsp.run import Order
from regreen.lsp.runs import Runs
from regreen.lsp.settings import Settings
from regreen.lsp.targets import (
    ASK_COMMAND,
    FIX_COMMAND,
    TestIndex,
    code_actions,
    code_lenses,
    test_action,
    wants_quickfix,
)
from regreen.redact import Redactor

CLOSE_SECONDS = 1.6
UNDO_SECONDS = 30.0

log = logging.getLogger(__name__)


class SafeFormatter(logging.Formatter):
    """Log lines without secrets, in tracebacks too."""

    redactor = Redactor.of_this_process()

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter.format`."""
        return self.redactor.text(super().format(record))


class RegreenServer(BaseServer):
    """The state of one connection."""

    def __init__(self, loop: asyncio.AbstractEventLoop, watch_parent: bool) -> None:
        super().__init__("regreen", __version__)
        self.settings = Settings()
        self.editor = Editor(self.protocol)
        self.runs = Runs(self.editor)
        self.indexes: dict[str, TestIndex] = {}
        self.collector = Collector(
            self.editor, lambda: self.settings, self.folders, lambda: self.runs.busy, self.index
        )
        self._loop = loop
        self._watch_parent = watch_parent

    # --- setting up ------------------------------------------------------------------------------------

    def start_with(self, params: lsp.InitializeParams) -> None:
        """Take note of what the client is and wants."""
        options = part(params.initialization_options)
        self.editor.preview = options.get("review") == "preview"
        self.configure(options)
        if self._watch_parent and params.process_id:
            wire.watch_parent(params.process_id, self.leave)

    def configure(self, options: Mapping[str, Any]) -> None:
        """Use these settings for the runs to come; what cannot be used is said in the log."""
        self.settings, problems = self.settings.updated(options)
        for problem in problems:
            self.editor.log(problem, lsp.MessageType.Warning)

    def leave(self) -> None:
        """The client is gone; may be called from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: we are leaving already
            self._loop.call_soon_threadsafe(self.protocol.exited.set)

    def folders(self) -> list[Path]:
        """The workspace folders that are on this machine."""
        uris = [folder.uri for folder in self.workspace.folders.values()]
        if not uris and self.workspace.root_uri:
            uris = [self.workspace.root_uri]
        return [path for uri in uris if (path := file_path(uri)) is not None]

    # --- documents -------------------------------------------------------------------------------------

    def opened(self, uri: str) -> None:
        """Parse a Python file in the background, so that the first answer is there when it is asked for."""
        document = self.protocol.documents.get(uri)
        if document is None or document.path is None or not _is_python(document.language, document.path):
            return
        self.indexes[document.uri] = index = TestIndex(document)
        self.protocol.background(index.soon())
        self.collector.opened(index)
        self.runs.documents_changed()

    def saved(self, uri: str) -> None:
        """The file may hold other tests now, and tests that other files inherit."""
        if index := self.index(uri):
            self.collector.saved(index.document)
        self.runs.documents_changed()

    def closed(self, uri: str) -> None:
        """Nobody looks at the document any more."""
        if index := self.indexes.pop(uri, None):
            self.collector.closed(index.document)
        self.runs.documents_changed()

    def index(self, uri: str) -> TestIndex | None:
        """The tests of an open Python file."""
        document = self.protocol.documents.get(uri)
        return self.indexes.get(document.uri) if document else None

    async def code_actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command] | None:
        """Fix failing test, on the test or test class in which the range begins; on a file that a run changed without
        a test to decide, also to have one written (our own extension has a button for that)."""
        uri = params.text_document.uri
        index, path = self.index(uri), file_path(uri)
        if not wants_quickfix(params.context.only):
            return None
        capabilities = self.client_capabilities
        literal = get_capability(capabilities, "text_document.code_action.code_action_literal_support", None)
        actions: list[lsp.CodeAction | lsp.Command] = []
        if index is not None:
            await index.soon()
            tags = get_capability(capabilities, "text_document.code_action.tag_support.value_set", None)
            tagged = lsp.CodeActionTag.LlmGenerated in (tags or ())
            lines = (params.range.start.line, params.range.end.line)
            actions += code_actions(index, uri, lines, literal is not None, tagged)
        if path and not self.editor.preview and (order := self.runs.test_wanted(path)):
            actions.append(test_action(order.target, uri, order.resume, literal is not None))
        return actions or None

    async def code_lenses(self, params: lsp.CodeLensParams) -> list[dict[str, Any]] | None:
        """A lens above every test and test class."""
        uri = params.text_document.uri
        index, path = self.index(uri), file_path(uri)
        if index is None or path is None:
            return None
        return code_lenses(await index.soon(), uri, index.document)

    # --- commands --------------------------------------------------------------------------------------

    def fix(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Start or queue a run. What cannot be run is said to the person, and `run` is null."""
        try:
            path = test_file(arguments)
            names, line = wanted_names(arguments)
            if line is not None:
                names = self._names_at(str(arguments["uri"]), path, line)
            unlocked, resume = wants_unlocked(arguments), wanted_resume(arguments)
            order = make_order(path, names, self.folders(), self.settings, unlocked, resume)
        except RegreenError as error:
            return self._refuse(error)
        return self._start(order)

    def ask(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Start or queue a run on a task in words; the answer is that of `fix`."""
        try:
            order = make_task(arguments, self.folders(), self.settings)
        except RegreenError as error:
            return self._refuse(error)
        return self._start(order)

    def _start(self, order: Order) -> dict[str, Any]:
        self.collector.pause()
        run, queued = self.runs.start(order)
        return {"run": run, "queued": queued}

    def _refuse(self, error: RegreenError) -> dict[str, Any]:
        self.editor.show(f"Regreen: {error}", lsp.MessageType.Error)
        return {"run": None, "queued": False, "error": str(error)}

    def _names_at(self, uri: str, path: Path, line: int) -> tuple[str, ...]:
        index = self.index(uri)
        test = index.at(line - 1, line - 1) if index else None
        if test is None:
            raise UsageError(f"There is no test at line {line} of {path.name}; put the cursor into one.")
        return test.names

    def undo(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Take back a run's edits, with `paths` (as its outcome names them) only those of these files, in a process of
        its own; the result is shown when it is there."""
        record, folder = self.runs.record(str(arguments.get("run") or ""))
        path = file_path(str(arguments.get("uri") or ""))
        where = folder or (path.parent if path else next(iter(self.folders()), Path.cwd()))
        words = [record] if record else []
        if "paths" in arguments:
            paths = arguments["paths"]
            chosen = cast("list[Any]", paths) if isinstance(paths, list) else []
            if not chosen:  # Nothing chosen is nothing to do, never everything.
                return self._refuse(UsageError("No file was chosen, so nothing is taken back."))
            words += [f"./{name}" for name in chosen]  # "./": a file may have a name like a run's.
        self.protocol.background(self._undo(words, where))
        return {"run": record or None}

    async def _undo(self, words: list[str], folder: Path) -> None:
        try:
            process = await asyncio.create_subprocess_exec(
                *run_command(self.settings.run_python),
                "undo",
                *words,
                cwd=folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
            output, _ = await asyncio.wait_for(process.communicate(), UNDO_SECONDS)
        except (OSError, ValueError, asyncio.TimeoutError) as error:
            self.editor.show(f"Regreen: undo did not work: {error}", lsp.MessageType.Error)
            return
        lines = output.decode("utf-8", "replace").strip().splitlines() or ["nothing to undo"]
        kind = lsp.MessageType.Error if process.returncode else lsp.MessageType.Info
        self.editor.log("\n".join(lines), kind)
        self.editor.show(f"Regreen: {one_line('; '.join(lines), 400)}", kind)


def _is_python(language: str, path: Path) -> bool:
    return language == "python" or path.suffix in (".py", ".pyi")


def _argument(arguments: tuple[Any, ...]) -> Mapping[str, Any]:
    """The one object that our commands take; a bare text is taken for the run's id."""
    first = arguments[0] if arguments else None
    return {"run": first} if isinstance(first, str) else part(first)


def _wire_commands(server: RegreenServer) -> None:
    def fix(*arguments: Any) -> dict[str, Any]:
        return server.fix(_argument(arguments))

    def ask(*arguments: Any) -> dict[str, Any]:
        first = arguments[0] if arguments else None
        return server.ask({"text": first} if isinstance(first, str) else part(first))

    def cancel(*arguments: Any) -> dict[str, Any]:
        run = _argument(arguments).get("run")
        return {"cancelled": server.runs.cancel(str(run) if run else None)}

    def extend(*arguments: Any) -> dict[str, Any]:
        more = _argument(arguments)
        steps = more.get("steps")
        allowed = isinstance(steps, int) and 0 < steps <= 1000
        return {"extended": allowed and server.runs.extend(str(more.get("run")), cast(int, steps))}

    def undo(*arguments: Any) -> dict[str, Any]:
        return server.undo(_argument(arguments))

    for name, handler in (
        (FIX_COMMAND, fix),
        (ASK_COMMAND, ask),
        ("regreen.cancel", cancel),
        ("regreen.undo", undo),
        ("regreen.extend", extend),
    ):
        server.command(name)(handler)


def _wire_features(server: RegreenServer) -> None:
    @server.feature(lsp.INITIALIZE)
    def _(params: lsp.InitializeParams) -> None:
        server.start_with(params)

    @server.feature(lsp.SHUTDOWN)
    def _(*_: Any) -> None:
        server.runs.cancel(None)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def _(params: lsp.DidChangeConfigurationParams) -> None:
        server.configure(part(part(params.settings).get("regreen")))

    @server.feature(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def _(params: lsp.WorkDoneProgressCancelParams) -> None:
        server.runs.cancel_token(params.token)

    @server.feature("regreen/decision")
    def _(message: Any) -> None:
        server.editor.decided(part(message))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def _(params: lsp.DidOpenTextDocumentParams) -> None:
        server.opened(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def _(_: lsp.DidChangeTextDocumentParams) -> None:
        server.runs.documents_changed()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def _(params: lsp.DidSaveTextDocumentParams) -> None:
        server.saved(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def _(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix])
    )
    async def _(params: lsp.CodeActionParams) -> list[lsp.CodeAction | lsp.Command] | None:
        return await server.code_actions(params)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    async def _(params: lsp.CodeLensParams) -> list[dict[str, Any]] | None:
        return await server.code_lenses(params)


def serve(tcp: int | None = None, log_file: Path | None = None) -> int:
    """Serve one client on stdio, or on a local TCP port, until it leaves; the exit code that LSP asks for.

    0 after `shutdown` and `exit`; 1 when the client left without `shutdown`. Nothing else may use stdin and
    stdout of this process. Raises OSError when the port cannot be used or the log file not be written.
    """
    to_stderr = logging.StreamHandler()
    to_stderr.setLevel(logging.WARNING)
    handlers: list[logging.Handler] = [to_stderr]
    if log_file is not None:
        handlers.append(logging.FileHandler(log_file, encoding="utf-8"))
    for handler in handlers:
        handler.setFormatter(SafeFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=handlers, level=logging.INFO)
    logging.getLogger("pygls").setLevel(logging.WARNING)  # at INFO it logs every body, source code included
    logging.getLogger("pygls.protocol").setLevel(logging.ERROR)
    read, write = wire.private_stdio() if tcp is None else _accept(tcp)
    return asyncio.run(_serve(read, write, watch_parent=tcp is None))


def _accept(port: int) -> tuple[wire.Read, wire.Write]:
    """Wait for the one client on the loopback address."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)  # noqa: T201
        connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection.recv, connection.sendall


async def _serve(read: wire.Read, write: wire.Write, watch_parent: bool) -> int:
    loop = asyncio.get_running_loop()
    server = RegreenServer(loop, watch_parent)
    _wire_features(server)
    _wire_commands(server)
    protocol = server.protocol
    writer = wire.Writer(write, server.leave)
    protocol.set_writer(writer)
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            with contextlib.suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(getattr(signal, name), protocol.exited.set)

    def deliver(body: bytes) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(protocol.receive, body)

    gc.freeze()  # what was loaded stays: looking at it again and again cost 25 ms in the middle of answers
    wire.read_messages(read, deliver, server.leave)
    await protocol.exited.wait()
    server.editor.closing = True
    await asyncio.gather(server.runs.close(CLOSE_SECONDS), server.collector.close(CLOSE_SECONDS))
    writer.close()
    return protocol.code
