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

# Each with the fixed strings one of which stands in every text that it matches.
_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"sk-[A-Za-z0-9_-]{16,}", ("sk-",)),  # OpenAI, Anthropic and many that follow them
    (r"(?:pplx|xai|tvly|fw|nvapi|csk|jina)[-_][A-Za-z0-9_-]{20,}", ("pplx-", "xai-", "tvly-", "fw_", "nvapi-", "csk-", "jina_")),
    (r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{12,}|whsec_[A-Za-z0-9+/=]{16,}", ("k_live_", "k_test_", "whsec_")),  # Stripe
    (r"gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}", ("ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_")),
    (r"gl(?:pat|ptt|dt|rt|cbt|soat|ft)-[A-Za-z0-9_-]{16,}", ("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "glft-")),
    (r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])", ("AKIA", "ASIA", "ABIA", "ACCA")),  # AWS access key ids
    (r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}", ("AIza", "ya29.", "GOCSPX-")),  # Google
    (r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}", ("xox", "xapp-")),  # Slack
    (r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}", ("hooks.slack.com/",)),
    (r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_-]{20,}", ("/api/webhooks/",)),
    (r"\d{8,10}:AA[A-Za-z0-9_-]{33}", (":AA",)),  # Telegram
    (r"hf_[A-Za-z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{30,}", ("hf_", "gsk_", "r8_")),
    (r"npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|rubygems_[a-f0-9]{40,}|dckr_pat_[A-Za-z0-9_-]{20,}", ("npm_", "pypi-", "rubygems_", "dckr_pat_")),
    (r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|key-[a-f0-9]{32}", ("SG.", "key-")),  # SendGrid, Mailgun
    (r"do[opr]_v1_[a-f0-9]{40,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dapi[a-f0-9]{32}", ("dop_v1_", "doo_v1_", "dor_v1_", "shpat_", "shpca_", "shppa_", "shpss_", "dapi")),
    (r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{20,}|EAAA[A-Za-z0-9_-]{56,}", ("sq0", "EAAA")),  # Square
    (r"ATATT3[A-Za-z0-9_=-]{40,}|ATCTT3[A-Za-z0-9_=-]{40,}|lin_api_[A-Za-z0-9]{30,}|ntn_[A-Za-z0-9]{30,}", ("ATATT3", "ATCTT3", "lin_api_", "ntn_")),
    (r"(?:secret_[A-Za-z0-9]{43}|PMAK-[a-f0-9-]{50,}|NRAK-[A-Z0-9]{27}|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8})", ("secret_", "PMAK-", "NRAK-", "glsa_")),
    (r"hv[sbr]\.[A-Za-z0-9_-]{20,}|dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9.]{40,}|sbp_[a-f0-9]{40}|pscale_(?:tkn|pw)_[A-Za-z0-9_.-]{30,}", ("hvs.", "hvb.", "hvr.", "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "sbp_", "pscale_")),
    (r"sntry[su]_[A-Za-z0-9_=+/-]{40,}|tskey-[A-Za-z0-9-]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{50,}", ("sntrys_", "sntryu_", "tskey-", "AGE-SECRET-KEY-")),
    (r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", ("eyJ",)),  # JSON Web Tokens
    (r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)?", ("PRIVATE KEY",)),
)  # fmt: skip
# Looking for fixed strings is a hundred times faster than for patterns, and most texts hold none of them.
_FORMS = tuple((re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})"), signs) for pattern, signs in _KINDS)
# What stands behind a name that says secret, in a file of settings, a netrc(5) line, a connection string.
_LONG_WORD = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}={0,2}")
_NAME_BEFORE = re.compile(
    r"""(?i)(?:secret|token|api_?-?key|access_?-?key|account_?-?key|auth_?-?key|passw(?:or)?d|pwd)\w{0,12}"""
    r"""["']?\s{0,3}(?::=|=>|[:=])\s{0,3}["']?$"""
)
_BEFORE = 60
_NETRC = re.compile(r"(?i)(\bmachine\s+\S+\s+(?:login\s+\S+\s+)?password\s+)(?!\[secret left out)\S+")
_NAMES = ("secret", "token", "key", "passw", "pwd")
_HEADER = "-----BEGIN "
_FOOTER = re.compile(r"-----END [^-]*-----")
_LONGEST_KEY = 16 << 10
_IN_ADDRESS = re.compile(r"(?<=://)([^\s/:@'\"]*):[^\s/'\"]+(?=@)")
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
        for form, signs in _FORMS:
            if any(sign in text for sign in signs):
                text = form.sub(LEFT_OUT, text)
        lowered = text.lower()
        if any(name in lowered for name in _NAMES):
            cleaned = _LONG_WORD.sub(_unless_named, text)
            text = cleaned if LEFT_OUT in cleaned else text
            text = _NETRC.sub(rf"\1{LEFT_OUT}", text)
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
    """Text that comes in pieces: the last word, and a private key, is held back until it is whole, so that none slips
    through in two.

    `give` gets every piece, without secrets.
    """

    def __init__(self, redactor: Redactor, give: Callable[[str], None]) -> None:
        self._redactor = redactor
        self._give = give
        self._held = ""

    def feed(self, piece: str) -> None:
        """Take a piece."""
        text = self._held + piece
        whole = _before_open_key(text, max(text.rfind(mark) for mark in " \n\t") + 1)
        self._held = text[whole:]
        if whole:
            self._give(self._redactor.text(text[:whole]))

    def flush(self) -> None:
        """No more of this text will come."""
        if self._held:
            text, self._held = self._held, ""
            self._give(self._redactor.text(text))


def _unless_named(found: re.Match[str]) -> str:
    """A long word with digits in it, or what stands in its place when a name that says secret comes before it."""
    word, start = found[0], found.start()
    if sum(map(str.isdigit, word)) < 3 or not any(map(str.isalpha, word)):
        return word
    return LEFT_OUT if _NAME_BEFORE.search(found.string[max(0, start - _BEFORE) : start]) else word


def _before_open_key(text: str, whole: int) -> int:
    """How much of the first `whole` characters may be given out: nothing of a private key whose end is not among
    them."""
    at = text.rfind(_HEADER)
    if not 0 <= at < whole or len(text) - at > _LONGEST_KEY:
        return whole
    header, closed, _ = text[at + len(_HEADER) :].partition("-----")
    if not closed:
        return at if len(header) < 60 else whole
    end = _FOOTER.search(text, at)
    return at if "PRIVATE KEY" in header and (end is None or end.end() > whole) else whole


def is_secret_name(name: str) -> bool:
    """True for the name of an environment variable that holds a secret, by the words people use."""
    return _SECRET_NAME.search(name) is not None and _NAMES_A_PLACE.search(name) is None


def _exactly(value: str) -> re.Pattern[str]:
    """A pattern for a value; a short one only where it stands alone, or words that hold it by chance would suffer."""
    pattern = re.escape(value)
    return re.compile(pattern if len(value) >= 12 else rf"(?<![A-Za-z0-9_]){pattern}(?![A-Za-z0-9_])")
