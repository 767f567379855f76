"""The wire of Ollama: the `ollama` package's client, and its HTTP client where the package falls short.

What the package lacks (0.6.3): `truncate` and `shift`, time-outs, splitting lines at LF only, one kind of error
for a refused connection. This module imports `ollama` and `httpx`; import it only when a model is used.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import anyio
import httpx
import ollama

from regreen.errors import RegreenError
from regreen.models import limits
from regreen.models.assemble import JsonObject, json_object
from regreen.models.error_bodies import message_and_code
from regreen.models.faults import OllamaWords, Progress, Trouble, looks_like_html
from regreen.models.hosts import is_local
from regreen.models.pauses import asked_pause

_STOP = re.compile(r'^stop\s+"?(.+?)"?\s*$', re.MULTILINE)


@dataclass(frozen=True)
class Facts:
    """What the server tells about the model. `window` is what it was trained for, in tokens; `remote` the host that
    runs it when it is not this server ("cloud" models), else "". `stops` are the marks at which a reply of it ends."""

    version: str
    digest: str
    size: int
    window: int | None
    bytes_per_token: int
    takes_tools: bool
    tags_in_template: bool
    remote: str
    stops: tuple[str, ...] = ()


class OllamaWire(ollama.AsyncClient):
    """One model of one server. Every method raises RegreenError, Trouble or NoToolSupport, nothing else."""

    def __init__(self, url: str, model: str, between_chunks: float = limits.BETWEEN_CHUNKS_SECONDS) -> None:
        timeout = httpx.Timeout(
            limits.FIRST_BYTE_SECONDS, connect=limits.CONNECT_SECONDS, write=60.0, pool=None
        )
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            url,
            timeout=timeout,
            trust_env=not is_local(url),
            follow_redirects=False,  # a redirect could lead off this machine
            verify=not url.startswith(
                "http:"
            ),  # reading the certificates takes 20 ms, and plain HTTP has none
        )
        self._http = cast("httpx.AsyncClient", cast(Any, self)._client)
        self._between = between_chunks
        self._reached = False
        self.model = model
        self.words = OllamaWords(url, model, self.get)

    async def facts(self) -> Facts:
        """Ask what the model is. Raises MissingModel, ServerDown."""
        shown, listed, version = await asyncio.gather(
            self._json("POST", "/api/show", {"model": self.model}),
            self._json("GET", "/api/tags"),
            self._json("GET", "/api/version"),
        )
        self._reached = True
        entry = self._entry(listed) or {}
        info = json_object(shown.get("model_info")) or {}
        template = str(shown.get("template") or "")
        capabilities = shown.get("capabilities")
        return Facts(
            version=str(version.get("version", "")),
            digest=str(entry.get("digest", "")),
            size=int(entry.get("size") or 0),
            window=_number(info, "context_length") or None,
            bytes_per_token=_cache_bytes(info),
            takes_tools=not isinstance(capabilities, list) or "tools" in capabilities,
            tags_in_template="<tool_call>" in template and not shown.get("renderer"),
            remote=str(shown.get("remote_host") or ""),
            stops=tuple(_STOP.findall(str(shown.get("parameters") or ""))),
        )

    async def is_loaded(self, window: int) -> bool:
        """Whether the model is in memory with this context length."""
        entry = self._entry(await self._json("GET", "/api/ps"))
        return entry is not None and entry.get("context_length", window) == window

    async def load(self, body: Mapping[str, Any]) -> None:
        """Load the model with the options of the run: a chat without messages."""
        await self._json("POST", "/api/chat", {**body, "model": self.model, "messages": [], "stream": False})

    async def rendered(self, body: Mapping[str, Any]) -> str:
        """The prompt that the server's template makes of a request; "" where the server cannot tell (< 0.11.5)."""
        asked = {**body, "model": self.model, "stream": False, "_debug_render_only": True}
        answer = await self._json("POST", "/api/chat", asked)
        return str((json_object(answer.get("_debug_info")) or {}).get("rendered_template", ""))

    async def stream(self, body: Mapping[str, Any], hear: Callable[[Mapping[str, Any]], None]) -> None:
        """Send a chat request and hand over every object of the reply. An exception of `hear` closes the stream."""
        started = False
        try:
            async with self._http.stream("POST", "/api/chat", json={**body, "stream": True}) as response:
                if response.status_code != 200:
                    await response.aread()
                    raise self._refused(response)
                self._reached = True
                async for line in self._lines(response):
                    chunk = self._chunk(line, started)
                    started = True
                    hear(chunk)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._down() from error
        except httpx.TransportError as error:
            raise self.words.broken(type(error).__name__) from error

    async def get(self, progress: Progress) -> None:
        """Pull the model. Raises ServerDown, or RegreenError with the server's own words; may be repeated."""
        try:
            async for part in await self.pull(self.model, stream=True):
                share = 100.0 * (part.completed or 0) / part.total if part.total else None
                progress(part.status or "", share)
        except (httpx.ConnectError, ConnectionError) as error:
            raise self.words.down() from error
        except ollama.ResponseError as error:
            raise RegreenError(
                f"Ollama could not pull {self.model}: {error.error}. Check the name and the network, then pull again."
            ) from error
        except (httpx.TransportError, ValueError) as error:
            raise RegreenError(
                f"The pull of {self.model} broke off: run `ollama pull {self.model}`; it goes on where it stopped."
            ) from error

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    # -- pieces --------------------------------------------------------------------------------------

    async def _json(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        try:
            response = await self._http.request(method, path, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._down() from error
        except httpx.TransportError as error:
            raise self.words.broken(type(error).__name__) from error
        if response.status_code != 200:
            raise self._refused(response)
        value = _decoded(response.content)
        if value is None:
            raise self.words.not_ollama()
        return value

    def _entry(self, listed: JsonObject) -> JsonObject | None:
        """The model's own entry in a list of models."""
        entries = cast("list[Any]", listed.get("models") or [])
        return next((e for e in map(json_object, entries) if e and _same_model(e, self.model)), None)

    def _down(self) -> Exception:
        error = self.words.down()
        return Trouble(error, "down", 3, 1.0, "Ollama does not answer") if self._reached else error

    def _refused(self, response: httpx.Response) -> Exception:
        text = response.content.decode("utf-8", "replace")
        error: Any = text
        with contextlib.suppress(ValueError, KeyError, TypeError):
            error = json.loads(text)["error"]
        said, _ = message_and_code(error)
        pause = asked_pause(response.headers, error, said)
        return self.words.of_status(response.status_code, said, None, pause)

    def _chunk(self, line: bytes, started: bool) -> dict[str, Any]:
        chunk = _decoded(line)
        if chunk is None:
            page = looks_like_html(line.decode("utf-8", "replace")) or not started
            raise self.words.not_ollama() if page else self.words.unfinished()
        if "error" in chunk:
            raise self.words.of_status(200, message_and_code(chunk["error"])[0], None)
        return chunk

    async def _lines(self, response: httpx.Response) -> AsyncIterator[bytes]:
        """Lines that end in LF only: `iter_lines` also splits at U+0085, which the server does not escape."""
        pieces, rest = response.aiter_bytes().__aiter__(), b""
        while True:
            try:
                with anyio.fail_after(self._between):  # asyncio.wait_for can lose a cancel before Python 3.12
                    piece = await pieces.__anext__()
            except StopAsyncIteration:
                break
            except TimeoutError:
                raise self.words.stalled(self._between) from None
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if line.strip():
                    yield line
        if rest.strip():
            yield rest


def _decoded(data: bytes) -> JsonObject | None:
    try:
        return json_object(json.loads(data))
    except ValueError:
        return None


def _same_model(entry: Mapping[str, Any], name: str) -> bool:
    full = name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"
    return full in (entry.get("name"), entry.get("model"))


def _number(info: Mapping[str, Any], ending: str) -> int:
    value = info.get(f"{info.get('general.architecture', '')}.{ending}")
    return value if isinstance(value, int) else 0


def _cache_bytes(info: Mapping[str, Any]) -> int:
    """Bytes of the key-value cache for one token, at f16; that of qwen2.5:3b where the server does not tell."""
    heads = _number(info, "attention.head_count")
    kv_heads = _number(info, "attention.head_count_kv") or heads
    width = _number(info, "embedding_length") // heads if heads else 0
    per_token = 4 * _number(info, "block_count") * kv_heads * width
    return per_token or 36864
