"""Keys and passwords, left out of what is recorded and shown: traces, events, logs.

Two kinds are known: values of environment variables whose names say that they are secret, and strings in the
form that keys of well-known services have. Everything else stays as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, cast

LEFT_OUT = "[secret left out]"
"""What stands in the place of a secret."""

SHORTEST = 6
"""Characters. Shorter values of secret variables ("1", "none") stand everywhere and protect nothing."""

_SECRET_NAME = re.compile(
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL)S?(?:_?\d+)?$|SECRET|PASSWORD", re.IGNORECASE
)
_NAMES_A_PLACE = re.compile(r"_(?:FILE|PATH|DIR|URL|NAME|ID|ENABLED)$", re.IGNORECASE)

_FORMS = (
    r"sk-[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic and many that follow them
    r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{12,}",  # Stripe
    r"gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}",
    r"glpat-[A-Za-z0-9_-]{16,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS access key ids
    r"AIza[A-Za-z0-9_-]{35}",  # Google
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",  # JSON Web Tokens
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
)
_KNOWN_FORM = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_FORMS)})")
# Looking for fixed strings is a hundred times faster than for patterns, and most texts hold none of them.
_SIGNS = (
    *("sk-", "k_live_", "k_test_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "AKIA"),
    *("ASIA", "AIza", "xox", "hf_", "gsk_", "npm_", "pypi-", "eyJ", "PRIVATE KEY"),
)
_IN_ADDRESS = re.compile(r"(?<=://)([^\s/:@'\"]*):[^\s/@'\"]+(?=@)")
_BEARER = re.compile(r"(?i)\b(bearer|basic) +(?=\S*\d)[A-Za-z0-9._~+/=-]{16,}")

EXACT = frozenset(
    (
        *("event", "run", "id", "proposal", "question", "outcome", "decision", "kind", "level", "default"),
        *("choices", "workspace", "python", "trace", "model", "seal", "approval"),
    )
)
"""Fields of events that name things: nothing is ever changed in them, or answers would find no addressee."""


class Redactor:
    """Leaves out the secrets of one environment, and whatever looks like a key. Pure; safe to share."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        values = {value for name, value in environ.items() if is_secret_name(name) and len(value) >= SHORTEST}
        # The longest first, so that no rest of a value stays that begins with another.
        self._values = [(value, _exactly(value)) for value in sorted(values, key=len, reverse=True)]

    @classmethod
    def of_this_process(cls) -> Redactor:
        """For the environment as it is now."""
        return cls(os.environ)

    def text(self, text: str) -> str:
        """The text without secrets; the same object when there is none."""
        for value, pattern in self._values:
            if value in text:
                text = pattern.sub(LEFT_OUT, text)
        if any(sign in text for sign in _SIGNS):
            text = _KNOWN_FORM.sub(LEFT_OUT, text)
        if "://" in text and "@" in text:
            text = _IN_ADDRESS.sub(rf"\1:{LEFT_OUT}", text)
        if any(word in text for word in ("earer ", "asic ", "EARER ", "ASIC ")):
            text = _BEARER.sub(rf"\1 {LEFT_OUT}", text)
        return text

    def value(self, value: Any) -> Any:
        """The same for every text inside lists and objects; keys of objects stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            return {key: self.value(inner) for key, inner in items}
        if isinstance(value, list | tuple):
            return [self.value(inner) for inner in cast("list[Any]", value)]
        return value

    def event(self, event: Mapping[str, Any], exact: frozenset[str] = EXACT) -> dict[str, Any]:
        """One event of a run; `exact` are fields that are passed on as they are."""
        return {key: value if key in exact else self.value(value) for key, value in event.items()}


class Stream:
    """Text that comes in pieces: the last word is held back until it is whole, so that no key slips through in two.

    `give` gets every piece, without secrets.
    """

    def __init__(self, redactor: Redactor, give: Callable[[str], None]) -> None:
        self._redactor = redactor
        self._give = give
        self._held = ""

    def feed(self, piece: str) -> None:
        """Take a piece."""
        text = self._held + piece
        whole = max(text.rfind(mark) for mark in " \n\t") + 1
        self._held = text[whole:]
        if whole:
            self._give(self._redactor.text(text[:whole]))

    def flush(self) -> None:
        """No more of this text will come."""
        if self._held:
            text, self._held = self._held, ""
            self._give(self._redactor.text(text))


def is_secret_name(name: str) -> bool:
    """True for the name of an environment variable that holds a secret, by the words people use."""
    return _SECRET_NAME.search(name) is not None and _NAMES_A_PLACE.search(name) is None


def _exactly(value: str) -> re.Pattern[str]:
    """A pattern for a value; a short one only where it stands alone, or words that hold it by chance would suffer."""
    pattern = re.escape(value)
    return re.compile(pattern if len(value) >= 12 else rf"(?<![A-Za-z0-9_]){pattern}(?![A-Za-z0-9_])")
