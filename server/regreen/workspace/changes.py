"""Changes to files as exact contents: what a proposal holds, a trial runs and the writer writes."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def sha256(data: bytes) -> str:
    """The lower-case hex digest that binds a proposal to its base."""
    return hashlib.sha256(data).hexdigest()


def split_lines(text: str) -> list[str]:
    """Lines with their ends. Only LF, CR LF and CR end a line, as in LSP 3.17, "Text Documents"."""
    return _LINE.findall(text)


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file's new content. `before` is None for a new file; `path` is relative, with forward slashes.

    `before` and `after` are decoded without changing any character, line ends included; `base` is the raw
    content the change was computed from, the one thing an approval is bound to.
    """

    path: str
    before: str | None
    after: str
    base: bytes | None

    @property
    def base_sha256(self) -> str | None:
        """Digest of the base bytes; None for a new file."""
        return None if self.base is None else sha256(self.base)

    def diff(self, context: int = 3) -> str:
        """A unified diff (`--- a/path`, `+++ b/path`) of at most a few lines of context; "" for no change."""
        old = split_lines(self.before or "")
        new = split_lines(self.after)
        source = "/dev/null" if self.before is None else f"a/{self.path}"
        return "".join(
            line if line.endswith(("\n", "\r")) else line + "\n\\ No newline at end of file\n"
            for line in difflib.unified_diff(old, new, source, f"b/{self.path}", n=context)
        )


Changes = Mapping[str, FileChange]
"""Changes by path."""
