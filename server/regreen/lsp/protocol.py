"""pygls 2.1.1 as the base of an agent server, with the faults closed that such a server falls into.

Each one was reproduced; the method that closes it says which:
1. cancelling a command answered "cancelled" while its coroutine ran on;
2. a CancelledError inside a command left its request unanswered;
3. threaded handlers could not be cancelled and delayed the exit (they are refused here);
4. `shutdown` failed while a request was in flight;
5. `exit` without `shutdown` ended with code 0;
6. undecodable requests and replies were dropped, so that the waiting side hung;
7. reporting an error on a closed pipe recursed until 9 MB of tracebacks were written;
8. the table of requests grew with each didChange;
9. a reply to a request nobody waits for any more raised an error that was shown to the person.
Also: replies are heard after `shutdown`, nothing is carried out before `initialize`, nested objects that
have a key "jsonrpc" are data, and custom notifications keep their keys.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from concurrent.futures import Future
from typing import Any, cast
from uuid import uuid4

import attrs
import cattrs
from lsprotocol import types as lsp
from pygls.exceptions import (
    FeatureRequestError,
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.feature_manager import is_thread_function  # pyright: ignore[reportUnknownVariableType]
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from regreen.lsp.documents import Documents, unit_counter

log = logging.getLogger(__name__)

JSON = dict[str, Any]


@attrs.define
class PlainRequest:
    """A request of a method that LSP does not know; `params` stays as it came."""

    id: int | str
    method: str
    jsonrpc: str
    params: Any = None


@attrs.define
class PlainNotification:
    """A notification of a method that LSP does not know; `params` stays as it came."""

    method: str
    jsonrpc: str
    params: Any = None


class RegreenProtocol(LanguageServerProtocol):
    """One connection to an editor. `exited` is set when it ended; `code` is the exit code LSP asks for."""

    def __init__(self, server: LanguageServer, converter: cattrs.Converter) -> None:
        super().__init__(server, converter)
        self.documents = Documents()
        self.exited = asyncio.Event()
        self.code = 1
        self.tasks: set[asyncio.Task[Any]] = set()

    # --- incoming --------------------------------------------------------------------------------------

    def receive(self, body: bytes) -> None:
        """Take one message off the wire. Never raises; whoever waits for an answer gets one (fault 6)."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            self._refuse(None, JsonRpcParseError.of(error))
            return
        if not isinstance(data, dict) or cast(JSON, data).get("jsonrpc") != self.VERSION:
            self._refuse(None, JsonRpcInvalidRequest("not a JSON-RPC 2.0 message"))
            return
        message = cast(JSON, data)
        if isinstance(message.get("method"), str):
            self._receive_call(message)
        else:
            self._receive_reply(message)

    def _receive_call(self, data: JSON) -> None:
        method, ident = data["method"], data.get("id")
        problem = self._out_of_order(method)
        if problem is not None:
            if ident is not None:
                self._refuse(ident, problem)
            return
        fallback = PlainNotification if ident is None else PlainRequest
        try:
            message = self._converter.structure(data, self.get_message_type(method) or fallback)
        except Exception as error:
            text = "; ".join(cattrs.transform_error(error))
            log.warning("malformed %s: %s", method, text)
            if ident is not None:
                self._refuse(ident, JsonRpcInvalidParams(f"Invalid params of {method}: {text}"))
            return
        if ident is not None and not hasattr(message, "id"):
            self._refuse(ident, JsonRpcInvalidRequest(f"{method} is a notification"))
            return
        try:
            self.handle_message(message)
        except Exception:
            log.exception("handling %s", method)

    def _out_of_order(self, method: str) -> JsonRpcException | None:
        if method == lsp.EXIT:
            return None
        if self._shutdown:
            return JsonRpcInvalidRequest("the server is shutting down")
        if self._workspace is None and method != lsp.INITIALIZE:
            return JsonRpcServerNotInitialized("initialize comes first")
        if self._workspace is not None and method == lsp.INITIALIZE:
            return JsonRpcInvalidRequest("already initialized")
        return None

    def _receive_reply(self, data: JSON) -> None:
        """Hand a reply to whoever asked; late, double and malformed ones do no harm (faults 6 and 9)."""
        ident = data.get("id")
        if not isinstance(ident, (str, int)):
            return
        future = self._request_futures.pop(ident, None)
        expected = self._result_types.pop(ident, None)
        if future is None or future.done():
            return
        try:
            if (error := data.get("error")) is not None:
                code, text = error.get("code", -32603), str(error.get("message", ""))
                future.set_exception(JsonRpcException(message=text, code=code, data=error.get("data")))
            elif expected is None:
                future.set_result(data.get("result"))
            else:
                known = {"id": ident, "jsonrpc": self.VERSION, "result": data.get("result")}
                future.set_result(self._converter.structure(known, expected).result)
        except Exception as error:
            log.info("malformed reply to %s: %s", ident, error)
            if not future.done():
                future.set_exception(JsonRpcInternalError(f"malformed reply: {data.get('result')!r}"))

    def _refuse(self, ident: int | str | None, error: JsonRpcException) -> None:
        answer = {"code": error.code, "message": error.message}
        self._send_data({"jsonrpc": self.VERSION, "id": ident, "error": answer})

    # --- carrying out ----------------------------------------------------------------------------------

    def _execute_handler(
        self,
        msg_id: int | str,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """Run one handler. A request is in the table only while a task works on it (fault 8).

        The task contains all that the handler awaits, so that cancelling it cancels everything, and its
        end, however it comes, is answered (faults 1 and 2).
        """
        done: Future[Any] = Future()
        try:
            result = self._start(handler, args or (), kwargs or {})
        except Exception as error:
            done.set_exception(error)
            callback(done)
            return
        if not isinstance(result, asyncio.Task):
            done.set_result(result)
            callback(done)
            return
        task = cast("asyncio.Task[Any]", result)
        self._request_futures[msg_id] = cast("Future[Any]", task)

        def finished(task: asyncio.Task[Any]) -> None:
            self._request_futures.pop(msg_id, None)
            callback(cast("Future[Any]", task))

        task.add_done_callback(finished)

    def _start(self, handler: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The handler's result, or a task that will have it. What needs no waiting is done at once, in order."""
        if is_thread_function(handler):  # fault 3
            raise TypeError("handlers in threads cannot be cancelled; use a process or a task")
        if inspect.iscoroutinefunction(handler):
            return self.background(handler(*args, **kwargs))
        if not inspect.isgeneratorfunction(handler):
            return handler(*args, **kwargs)
        steps = cast("Generator[tuple[Callable[..., Any], Any, Any], Any, Any]", handler(*args, **kwargs))
        return self._advance(steps, None)

    def _advance(self, steps: Generator[tuple[Callable[..., Any], Any, Any], Any, Any], value: Any) -> Any:
        try:
            while True:
                inner, args, kwargs = steps.send(value)
                value = self._start(inner, args or (), kwargs or {})
                if isinstance(value, asyncio.Task):
                    return self.background(self._resume(steps, cast("asyncio.Task[Any]", value)))
        except StopIteration as end:
            return end.value

    async def _resume(
        self,
        steps: Generator[tuple[Callable[..., Any], Any, Any], Any, Any],
        waiting: Awaitable[Any],
    ) -> Any:
        result = self._advance(steps, await waiting)
        return await cast("asyncio.Task[Any]", result) if isinstance(result, asyncio.Task) else result

    def background(self, work: Any) -> asyncio.Task[Any]:
        """A task that is kept from the garbage collector until it ended."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    def _handle_cancel_notification(self, msg_id: int | str) -> None:
        """Cancel a request that is worked on; one that is answered already is nothing to warn about."""
        future = self._request_futures.get(msg_id)
        if isinstance(future, asyncio.Task):
            future.cancel()

    # --- outgoing --------------------------------------------------------------------------------------

    def _send_response(
        self, msg_id: int | str, result: Any = None, error: lsp.ResponseError | None = None
    ) -> None:
        """Plain data goes out as it is: walking it once more for objects made long lists of lenses slow."""
        answer: JSON = {"jsonrpc": self.VERSION, "id": msg_id}
        self._send_data(answer | ({"result": result} if error is None else {"error": error}))

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification; `params` is plain data or an object of lsprotocol."""
        self._send_data({"jsonrpc": self.VERSION, "method": method, "params": params})

    async def ask(self, method: str, params: Any) -> Any:
        """Send a request to the editor and wait for its result.

        Raises JsonRpcException when the editor answers with an error or with something malformed. When the
        waiting task is cancelled, the editor is told that its answer is not wanted any more.
        """
        ident = str(uuid4())
        future = self.send_request(method, params, msg_id=ident)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not self._shutdown:
                self.notify(lsp.CANCEL_REQUEST, lsp.CancelParams(ident))
            raise
        finally:
            self._request_futures.pop(ident, None)
            self._result_types.pop(ident, None)

    # --- life and death --------------------------------------------------------------------------------

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[Any, Any, lsp.InitializeResult]:
        """As pygls does, then count positions the way the client does."""
        result = yield from super().lsp_initialize(params)
        self.documents.units = unit_counter(self.workspace.position_encoding)
        return result

    @lsp_method(lsp.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """Cancel what is in flight, whatever the cancelling does to the table (fault 4)."""
        yield from self._tell(lsp.SHUTDOWN, *args)
        self._shutdown = True
        for ident, future in list(self._request_futures.items()):
            if ident != self.msg_id:
                future.cancel()

    @lsp_method(lsp.EXIT)
    def lsp_exit(self, *args: Any) -> None:  # type: ignore[override]
        """Only say so: the main function closes the runs and returns the code LSP asks for (fault 5)."""
        self.code = 0 if self._shutdown else 1
        self.exited.set()

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        """Keep the document, then tell the server."""
        self.documents.open(params.text_document)
        yield from self._tell(lsp.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(
        self, params: lsp.DidChangeTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Change the document, then tell the server."""
        if self.documents.change(params) is not None:
            yield from self._tell(lsp.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(
        self, params: lsp.DidCloseTextDocumentParams
    ) -> Generator[Any, Any, None]:
        """Forget the document, then tell the server."""
        self.documents.close(params.text_document.uri)
        yield from self._tell(lsp.TEXT_DOCUMENT_DID_CLOSE, params)

    @lsp_method(lsp.WORKSPACE_EXECUTE_COMMAND)
    def lsp_workspace__execute_command(self, params: lsp.ExecuteCommandParams) -> Generator[Any, Any, Any]:
        """Commands take what comes: they check their own arguments, and say what is missing."""
        handler = cast(Any, self.fm).commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(f"no such command: {params.command}")
        return (yield handler, tuple(params.arguments or ()), None)

    @lsp_method(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(
        self, params: lsp.WorkDoneProgressCancelParams
    ) -> Generator[Any, Any, None]:
        """Our own runs know their tokens; pygls' table of tokens is never emptied."""
        yield from self._tell(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL, params)

    def _tell(self, method: str, *params: Any) -> Generator[Any, Any, None]:
        if (handler := cast(Any, self.fm).features.get(method)) is not None:
            yield handler, params, None


class BaseServer(LanguageServer):
    """A language server on the mended protocol."""

    protocol: RegreenProtocol  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, name: str, version: str) -> None:
        super().__init__(name, version, protocol_cls=RegreenProtocol)  # pyright: ignore[reportUnknownMemberType]

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Into the log only: showing it on a broken pipe would fail, and report that failure (fault 7)."""
        if source is not FeatureRequestError:
            log.error("%s", error)
