"""Signed records of a test run, and texts of bounded size. Standard library only, Python 3.8 and later.

One JSON object a line, written at once, so that records survive a crash. Each line starts with a keyed digest of
the rest; the key reaches `Records` before any code of the project is loaded and is kept nowhere else.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

TEXT_LIMIT = 12_000
VALUE_LIMIT = 2_000
OUTPUT_LIMIT = 4_000


def bounded(text: str, limit: int) -> str:
    """Head and tail of a text, with a line between them that says how much was cut."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return "%s\n[... %d characters cut ...]\n%s" % (text[:half], len(text) - 2 * half, text[-half:])


def shown(value: object) -> str:
    """A value as text, bounded; an object whose `repr` fails is named by its type."""
    try:
        return bounded(repr(value), VALUE_LIMIT)
    except Exception as error:
        return "<%s whose repr raised %s>" % (type(value).__name__, type(error).__name__)


class Records:
    """Appends signed records to a file. Only the process that made it writes: forked children stay silent."""

    def __init__(self, path: str, key: bytes) -> None:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        # Bound here, so that a test that replaces os.write or json.dumps neither breaks nor sees the records.
        write, dumps, digest, pid, me = os.write, json.dumps, hashlib.blake2b, os.getpid, os.getpid()
        number = 0

        def emit(event: str, **fields: Any) -> None:
            nonlocal number
            if pid() != me:
                return
            fields["event"] = event
            fields["n"] = number
            number += 1
            line = dumps(fields, ensure_ascii=True, default=repr).encode("ascii")
            write(
                file, digest(line, key=key, digest_size=16).hexdigest().encode("ascii") + b" " + line + b"\n"
            )

        self.emit = emit
