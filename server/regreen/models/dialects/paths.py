"""Paths as models write them: quoted, backslashed, absolute, with line numbers, made up."""

from __future__ import annotations

import difflib
import functools
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from regreen.models.dialects import lenient

_SYSTEM = frozenset(
    [
        "home",
        "users",
        "root",
        "etc",
        "usr",
        "var",
        "tmp",
        "opt",
        "mnt",
        "media",
        "bin",
        "sbin",
        "lib",
        "lib64",
        "dev",
        "proc",
        "sys",
        "boot",
        "run",
        "srv",
        "private",
        "volumes",
        "library",
        "system",
        "applications",
        "snap",
        "nix",
    ]
)
_CONTAINER = frozenset(
    ["workspace", "workspaces", "app", "repo", "project", "testbed", "code", "work", "workdir", "src_root"]
)
_PLACEHOLDER = re.compile(
    r"(?:^|/)path/(?:to|of)/|(?:^|/)your[_-]?\w*|<[^<>]*>|\{\{?[\w ]*\}\}?|(?:^|/)\.\.\.(?:/|$)|^\.\.\.|…|\[[\w ]+\]$"
    r"|^path$|^(?:file_?path|file_?name|relative/path|absolute/path|some/path)\b|^/?path/[\w.]+$|(?:^|/)xxx+\b",
    re.IGNORECASE,
)
_MENTION = re.compile(
    r"(?<![\w/.\\-])(?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)*\.(?:py|pyi|toml|cfg|ini|txt|json|md|ya?ml|csv|html)\b"
)
_LINES = re.compile(
    r"^(?P<path>.+?\.\w{1,5})(?::|#L?|\s*\(?lines?\s+)(?P<first>\d+)(?:\s*[-:,]\s*L?(?P<last>\d+))?\)?$"
)
_SWALLOWED = {"\t": "/t", "\n": "/n", "\r": "/r", "\b": "/b", "\f": "/f", "\a": "/a", "\v": "/v"}


@dataclass(frozen=True, slots=True)
class Path:
    """A path made relative and plain. `problem` says why it cannot be used; `closest` is what may be meant.
    `first` and `last` are line numbers that were written behind the path."""

    text: str
    problem: Literal["", "placeholder", "outside", "empty"] = ""
    closest: str = ""
    first: int | None = None
    last: int | None = None


def clean(written: str, files: Iterable[str] = ()) -> Path:
    """The path a model means. `files` are known paths, which decide about absolute and shortened ones."""
    known = tuple(files)
    path = written.strip()
    if path in known:
        return Path(path)
    for swallowed, meant in _SWALLOWED.items():  # "tests\test_a.py" as a JSON string: the \t became a tab
        path = path.replace(swallowed, meant)
    if link := re.fullmatch(r"\[[^\]]*\]\(([^()\s]+)\)", path):
        path = link.group(1)
    path = re.sub(r"[\u200b-\u200f\u2060\ufeff]", "", path)
    path = re.sub(r"^(?:<(?:path|file|filename|parameter=path)>)(?=[^<>]*\.\w)|</\w+>\s*$", "", path).strip()
    path = re.sub(r"^(?:path|file|filename|file_path)\s*[:=]\s*(?=\S)", "", path)
    if path[:1] in ("{", "[") and (inner := _string_in(path)):
        path = inner
    path = path.strip("`'\"“”‘’ ").removeprefix("file://").removeprefix("@")
    if re.fullmatch(r"<[\w./-]+\.\w+>", path):
        path = path[1:-1]
    if _PLACEHOLDER.search(path):
        return Path(path, "placeholder", _closest(path, known))
    path = re.sub(r"/{2,}", "/", path.replace("\\", "/"))
    first = last = None
    if found := _LINES.match(path):
        path = found.group("path")
        first = int(found.group("first")[:9])
        last = int(found.group("last")[:9]) if found.group("last") else None
    if not path:
        return Path("", "empty")
    drive = re.match(r"^[A-Za-z]:/?", path)
    if re.match(r"\$\{?\w+|%\w+%", path):
        return Path(path, "outside", _closest(re.sub(r"^[^/]*/", "", path), known))
    if path.startswith(("/", "~")) or drive:
        return _relative(path[drive.end() :] if drive else path, path, known, first, last)
    return _inside(path, known, first, last)


def _string_in(text: str) -> str:
    """The one string in a path given as JSON: `{"path": "a.py"}` or `['a.py']`."""
    try:
        value = lenient.parse(text).value
    except lenient.Broken:
        return ""
    values = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportUnknownArgumentType]
    return values[0] if len(values) == 1 and isinstance(values[0], str) else ""  # pyright: ignore[reportUnknownArgumentType]


def _inside(path: str, known: tuple[str, ...], first: int | None, last: int | None) -> Path:
    plain = posixpath.normpath(path)
    if plain == ".." or plain.startswith("../"):
        return Path(path, "outside", _closest(plain.replace("../", ""), known))
    if known and plain not in known:
        plain = _undecorated(plain, known)
    if known and plain not in known:
        ends = [name for name in known if name.endswith("/" + plain) or plain.endswith("/" + name)]
        ends = ends or [name for name in known if name.lower() == plain.lower()]
        if len(ends) == 1 and not any(name.startswith(plain + "/") for name in known):
            plain = ends[0]
    return Path(plain, first=first, last=last)


def _undecorated(path: str, known: tuple[str, ...]) -> str:
    """The known path among marks and remarks: `(a.py)`, `**a.py**`, `a.py (the whole file)`, or as a module, `shop.cart`."""
    bare = re.sub(r"\s+\([^()]*\)$", "", path).strip("*()[]{}<>.,;:!\"'` ")
    if bare in known:
        return bare
    module = bare.replace(".", "/") + ".py"
    return module if "/" not in bare and module in known else path


def _relative(path: str, written: str, known: tuple[str, ...], first: int | None, last: int | None) -> Path:
    """An absolute path: inside when a known file ends it, or when it starts at the usual root of a container."""
    parts = [part for part in posixpath.normpath(path).split("/") if part not in ("", ".", "~")]
    ends = [name for name in known if parts[-len(name.split("/")) :] == name.split("/")]
    if ends:
        return Path(max(ends, key=len), first=first, last=last)
    if not parts or ".." in parts:
        return Path(written, "outside")
    top = parts[0].lower()
    if not written.startswith("~") and re.match("/", written):
        if top in _CONTAINER and len(parts) > 1:
            return Path("/".join(parts[1:]), first=first, last=last)
        if top not in _SYSTEM and "." in parts[-1]:
            return Path("/".join(parts), first=first, last=last)
    return Path(written, "outside", _closest("/".join(parts), known))


def _closest(path: str, known: tuple[str, ...]) -> str:
    """The known path nearest to one outside; without known ones, what follows the project's folder."""
    if known:
        name = posixpath.basename(path)
        same = [one for one in known if posixpath.basename(one) == name]
        return (same or difflib.get_close_matches(path[-200:], known, n=1, cutoff=0.5) or [""])[0]
    parts = [part for part in path.split("/") if part]
    if _PLACEHOLDER.search(path) or not parts:
        return ""
    top = parts[0].lower()
    if top in ("home", "users") and len(parts) > 3:
        return "/".join(parts[3:])
    if top in ("root", "tmp", "opt", "srv", "mnt") and len(parts) > 2:
        return "/".join(parts[2:])
    return "/".join(parts[-2:]) if top in _SYSTEM and len(parts) > 2 else parts[-1]


def mentions(text: str, files: Mapping[str, str]) -> list[str]:
    """The file paths that a text speaks of, in order, each once; with `files`, known ones only."""
    found: dict[str, None] = {}
    for name in _mentioned(text[:20000]):
        ends = [known for known in files if known == name or known.endswith("/" + name)]
        if not files or len(ends) == 1:
            found[ends[0] if files else name] = None
    return list(found)


@functools.lru_cache(maxsize=4)
def _mentioned(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match.group() for match in _MENTION.finditer(text)))


def is_test(path: str) -> bool:
    """Whether a path is a test or what tests are run with: locked unless the person unlocks it."""
    name = posixpath.basename(path)
    parts = path.split("/")
    if name in (
        "conftest.py",
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "sitecustomize.py",
    ):
        return True
    if not name.endswith(".py"):
        return False
    return (
        name.startswith("test_")
        or name.endswith(("_test.py", "_tests.py"))
        or bool({"tests", "test"} & set(parts[:-1]))
    )
