"""Addresses of model servers, and the smallest client that can ask whether one is there.

Standard library only: choosing a model must not cost the import of an HTTP library.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from regreen.errors import UsageError
from regreen.models.assemble import json_object

OLLAMA_PORT = 11434


def ollama_url(setting: str | None, environ: Mapping[str, str] = os.environ) -> str:
    """The address of Ollama: the setting, else OLLAMA_HOST, else 127.0.0.1:11434; never with a slash at the end.

    Follows the Go client (envconfig/config.go, Host): a bare host gets port 11434, an explicit scheme without a
    port gets that scheme's own port, and an address to listen on (0.0.0.0, ::) means this machine.
    Raises UsageError for something that is no address.
    """
    text = (setting or environ.get("OLLAMA_HOST") or "").strip().strip("\"'")
    if not text:
        return f"http://127.0.0.1:{OLLAMA_PORT}"
    given_scheme = "://" in text
    parts = _split(text if given_scheme else f"http://{_bracketed(text)}")
    host, scheme = parts.hostname or "127.0.0.1", parts.scheme
    port = parts.port or ({"http": 80, "https": 443}[scheme] if given_scheme else OLLAMA_PORT)
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{port}{parts.path.rstrip('/')}"


def server_url(text: str) -> str:
    """The address of an OpenAI-compatible server as given, checked; without a slash at the end."""
    text = text.strip()
    _split(text if "://" in text else f"http://{text}")
    return (text if "://" in text else f"http://{text}").rstrip("/")


def _bracketed(text: str) -> str:
    return f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text


def _split(text: str) -> Any:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not the address of a server ({error}): write it as http://HOST:PORT."
        ) from None
    if parts.scheme not in ("http", "https"):
        raise UsageError(f"{text!r} is not the address of a server: write it as http://HOST:PORT.")
    return parts


def is_local(url: str) -> bool:
    """Whether an address is this machine's own, so that nothing leaves it and no proxy is asked.

    So is one to listen on (0.0.0.0, ::), as servers print it when they start.
    """
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


async def ask(
    url: str, path: str, seconds: float, body: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """The JSON object at a path (POST when there is a body); None when it cannot be had within the time."""
    try:
        return await asyncio.wait_for(_ask(url, path, body), seconds)
    except (OSError, ValueError, EOFError, asyncio.TimeoutError):
        return None


async def _ask(url: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any] | None:
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=secure or None)
    try:
        data = b"" if body is None else json.dumps(body).encode()
        lines = [
            f"{'GET' if body is None else 'POST'} {parts.path}{path} HTTP/1.0",
            f"Host: {parts.netloc}",
            "Accept: application/json",
            *([] if body is None else ["Content-Type: application/json", f"Content-Length: {len(data)}"]),
        ]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(None, 2)[1])
        length = _content_length(head)
        content = await (reader.read() if length is None else reader.readexactly(length))
    finally:
        writer.close()
    return json_object(json.loads(content)) if status == 200 else None


def _content_length(head: bytes) -> int | None:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return None
