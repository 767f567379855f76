"""The wire of OpenAI-compatible servers, through the `openai` package.

This module imports `openai`; import it only when a model is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

import anyio
import openai

from regreen.models import limits
from regreen.models.assemble import JsonObject, json_object
from regreen.models.hosts import is_local
from regreen.models.openai_words import OpenAIWords, error_in

_NOT_OPENAI = ("usage", "timings_per_token")
"""Fields that OpenAI does not know and others do."""

_EVENTS = (b"data:", b"event:", b": ", b"id:", b"retry:")
_LIST_SECONDS = 8.0


class OpenAIWire:
    """One server. Raises RegreenError, Trouble, NoToolSupport or FieldRefused, nothing else."""

    def __init__(self, url: str, key: str, words: OpenAIWords, between_chunks: float) -> None:
        timeout = openai.Timeout(limits.FIRST_BYTE_SECONDS, connect=limits.CONNECT_SECONDS, write=60.0)
        http = openai.DefaultAsyncHttpxClient(
            trust_env=not is_local(url), timeout=timeout, follow_redirects=False
        )
        # The key is never read from a workspace; "none" is what servers without keys are sent.
        self._client = openai.AsyncOpenAI(
            api_key=key or "none", base_url=url, timeout=timeout, max_retries=0, http_client=http
        )
        self._words = words
        self._between = between_chunks
        self._reached = False

    async def stream(self, body: Mapping[str, Any], hear: Callable[[Mapping[str, Any]], None]) -> None:
        """Send a chat request and hand over every event of the reply. An exception of `hear` closes the stream."""
        create = cast(Any, self._client.chat.completions.create)
        known = {name: value for name, value in body.items() if name not in _NOT_OPENAI}
        extra = {name: value for name, value in body.items() if name in _NOT_OPENAI}
        started = False

        def heard(chunk: Mapping[str, Any]) -> None:
            nonlocal started
            started = True
            hear(chunk)

        try:
            stream: openai.AsyncStream[Any] = await create(**known, extra_body=extra or None, stream=True)
            self._reached = True
            async with stream:
                await self._read(stream, heard)
        except openai.APIConnectionError as error:
            raise (self._words.broken(_cause(error)) if self._reached else self._words.down()) from error
        except openai.APIStatusError as error:
            headers = dict(error.response.headers)
            raise self._words.of_status(error.status_code, _body(error), headers) from error
        except openai.APIError as error:
            raise self._words.of_status(200, error.body or error.message, {}) from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise (self._words.broken("garbled") if started else self._words.not_a_server()) from error
        except Exception as error:
            if _is_transport(error):
                raise self._words.broken(type(error).__name__) from error
            raise

    async def models(self) -> list[JsonObject]:
        """What the server tells about each of its models; empty where it does not tell, in time."""
        try:
            with anyio.fail_after(_LIST_SECONDS):
                listed = json_object(await cast(Any, self._client).get("/models", cast_to=object)) or {}
        except (openai.APIError, ValueError, TimeoutError):
            return []
        except Exception as error:
            if _is_transport(error):
                return []
            raise
        entries = listed.get("data")
        found = map(json_object, cast("list[Any]", entries)) if isinstance(entries, list) else ()
        return [entry for entry in found if entry is not None]

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.close()

    async def _read(self, stream: openai.AsyncStream[Any], hear: Callable[[Mapping[str, Any]], None]) -> None:
        kind = stream.response.headers.get("content-type", "")
        if "event-stream" not in kind:
            for body in self._whole(await stream.response.aread()):
                hear(body)
            return None
        events, started = stream.__aiter__(), False
        while True:
            try:
                with anyio.fail_after(self._between if started else None):
                    event = await events.__anext__()
            except StopAsyncIteration:
                return None
            except TimeoutError:
                raise self._words.stalled(self._between) from None
            started = True
            hear(self._checked(_decoded(event)))

    def _whole(self, data: bytes) -> list[Mapping[str, Any]]:
        """The body of a server that does not stream, has only an error to tell, or calls its stream something else."""
        if data.lstrip().startswith(_EVENTS):
            lines = [line[5:].strip() for line in data.splitlines() if line.startswith(b"data:")]
            bodies = [json.loads(line) for line in lines if line not in (b"", b"[DONE]")]
        else:
            bodies = [json.loads(data)]
        return [self._checked(body) for body in bodies]

    def _checked(self, value: Any) -> Mapping[str, Any]:
        body = json_object(value)
        if body is None:
            raise self._words.not_a_server()
        if error := error_in(body):
            raise self._words.of_status(200, error, {})
        return body


def _decoded(event: Any) -> Any:
    """An event as plain JSON; the package makes objects only of JSON objects."""
    return event.to_dict(warnings=False) if isinstance(event, openai.BaseModel) else event


def _is_transport(error: Exception) -> bool:
    """Errors of the HTTP library under `openai`, which is httpx before version 3 and httpx2 from then on."""
    return type(error).__module__.partition(".")[0] in ("httpx", "httpx2", "httpcore", "httpcore2")


def _cause(error: BaseException) -> str:
    return type(error.__cause__ or error).__name__


def _body(error: openai.APIStatusError) -> Any:
    return error.body if error.body is not None else error.response.text
