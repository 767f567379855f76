"""What the project's code looked for and did not find: variables, files, servers. Standard library only, Python 3.8+.

Code may catch what is missing and go on, so that the failure which follows does not name it. Only what was looked for
from a line of the workspace is told, straight or through a module that reads on its behalf (pathlib, configparser,
dotenv, …): what pytest and other libraries look for says nothing. Nothing that the project sees is changed, but for
the class of the dictionary behind `os.environ`, and `exists`, `isfile` and `isdir` being functions around the real ones.
"""

from __future__ import annotations

import collections.abc
import functools
import os
import pathlib
import stat
import sys
import weakref
from types import FrameType
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from regreen_trace import Places

MOST = 200
"""Different things that are told of one run."""
LOOKED = 5000
"""Paths that are remembered as looked at: code in a loop looks for the same ones again and again."""
_DEPTH = 12
_READ_FILES = frozenset(
    (
        "pathlib", "configparser", "io", "_io", "codecs", "gzip", "bz2", "lzma", "zipfile", "tarfile", "shelve", "dbm",
        "sqlite3", "fileinput", "glob", "os", "posixpath", "ntpath", "genericpath", "tomllib", "tomli",
        "dotenv", "netrc", "json", "csv", "importlib_resources", "regreen_lookups",
    )
)  # fmt: skip
"""Modules that open or look for files in the name of whoever calls them."""
_READ_VARIABLES = frozenset(
    ("decouple", "environs", "environ", "starlette", "prettyconf", "everett", "click", "typer", "dotenv", "collections",
     "_collections_abc")
)  # fmt: skip
"""Libraries that read variables in the name of whoever calls them; which default they were given is not seen."""
_LIST_VARIABLES = frozenset(("pydantic_settings", "pydantic", "dynaconf"))
"""Libraries that go through all variables there are, and take those that they know."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_stat, _open, _close, _abspath = os.stat, os.open, os.close, os.path.abspath
_frame: Callable[[int], FrameType] = sys._getframe  # pyright: ignore[reportPrivateUsage]


def module_of(frame: FrameType) -> str:
    """The top of the name of the module whose code a frame runs."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


class Variables(Dict[Any, Any]):
    """What `os.environ` keeps its values in. A name that is not there is heard of before the KeyError."""

    __slots__ = ("changed", "hear", "listed")

    def __init__(
        self,
        values: Dict[Any, Any],
        hear: Callable[[Any], None],
        listed: Callable[[], None],
        changed: Set[Any],
    ) -> None:
        super().__init__(values)
        self.hear, self.listed, self.changed = hear, listed, changed

    def __iter__(self) -> Any:
        self.listed()
        return super().__iter__()

    def __missing__(self, key: Any) -> Any:
        self.hear(key)
        raise KeyError(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.changed.add(key)
        super().__setitem__(key, value)


class Lookups:
    """Listens from `start` on; `tell` gives what is new since the last time."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._found: Dict[Tuple[str, str], Dict[str, Any]] = {}
        self._told = -1
        self._changed: Set[Any] = set()
        self._told_changed = 0
        self._bound: List[Any] = []
        self._busy = False
        self._heard: Set[Any] = set()
        self._looked: Set[str] = set()
        mapping: Any = collections.abc.Mapping
        code: List[Any] = [os.getenv, type(os.environ).__getitem__, mapping.get]
        self._mapping = {function.__code__.co_filename for function in code}
        self._marks: Set[Any] = {"PATH", b"PATH"}
        self._values: Any = {}

    def start(self) -> None:
        """Begin to listen. It does not end: the process is for one run."""
        self._watch_variables()
        for name in ("exists", "isfile", "isdir"):
            setattr(os.path, name, self._around(getattr(os.path, name)))
        for name in ("exists", "is_file", "is_dir"):
            setattr(pathlib.Path, name, self._around(getattr(pathlib.Path, name)))
        sys.addaudithook(self._hear)

    def tell(self, emit: Callable[..., None]) -> None:
        """Write one record, if there is anything new; the first one in any case, as a sign that somebody listened."""
        found = list(self._found.values())
        if self._told < len(found) or self._told_changed < len(self._changed):
            changed = sorted(os.fsdecode(name) for name in self._changed)[:MOST]
            emit("looked_for", missed=found[max(self._told, 0) :], changed=changed)
            self._told, self._told_changed = len(found), len(self._changed)

    def _add(self, kind: str, name: str, how: str, frame: Optional[FrameType]) -> None:
        if len(self._found) < MOST and len(name) <= 1000 and (kind, name) not in self._found:
            place = self._places.relative(frame.f_code.co_filename) if frame is not None else None
            self._found[(kind, name)] = {
                "kind": kind,
                "name": name,
                "how": how,
                "path": place or "",
                "line": frame.f_lineno if frame is not None and place else 0,
            }

    def _mine(self, frame: Optional[FrameType], through: "frozenset[str]") -> Optional[FrameType]:
        """The frame of the workspace that asked: this one, or the first behind modules that ask for others."""
        for _ in range(_DEPTH):
            if frame is None:
                return None
            if self._places.relative(frame.f_code.co_filename) is not None:
                return frame
            if module_of(frame) not in through:
                return None
            frame = frame.f_back
        return None

    # --- variables -----------------------------------------------------------------------------------------

    def _watch_variables(self) -> None:
        environ: Any = os.environ
        if type(environ).__module__ != "os" or not isinstance(getattr(environ, "_data", None), dict):
            return
        self._values = environ._data = Variables(
            environ._data, self._missed_variable, self._listed_variables, self._changed
        )
        if hasattr(os, "environb"):
            os.environb._data = self._values  # type: ignore[attr-defined]

    def _missed_variable(self, key: Any) -> None:
        if key in self._heard or not any(mark in self._values for mark in self._marks):
            return  # the test has emptied the environment: what is missing is missing on purpose
        frame: Optional[FrameType] = _frame(2)
        how = "raised"
        while frame is not None and frame.f_code.co_filename in self._mapping:
            called = frame.f_code.co_name
            if called in ("pop", "setdefault", "__delitem__"):
                self._changed.add(key)
                return
            if called == "get":
                how = "none" if frame.f_locals.get("default") is None else "default"
            elif called == "__contains__":
                how = "asked"
            frame = frame.f_back
        if frame is None:
            return
        if module_of(frame) == "_pytest" and frame.f_code.co_name in ("delitem", "setitem"):
            self._changed.add(key)  # monkeypatch: this test says itself what the variable is
            return
        mine = self._mine(frame, _READ_VARIABLES)
        if mine is not None:
            self._heard.add(key)
            self._add("variable", os.fsdecode(key), how if mine is frame else "asked", mine)

    def _listed_variables(self) -> None:
        frame: Optional[FrameType] = _frame(2)
        while frame is not None and frame.f_code.co_filename in self._mapping:
            frame = frame.f_back
        if frame is not None and module_of(frame) in _LIST_VARIABLES:
            mine = self._mine(frame, _LIST_VARIABLES)
            if mine is not None:
                self._add("variable", "*", "asked", mine)

    # --- files ---------------------------------------------------------------------------------------------

    def _around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that says whether something is there; when it says no to a line of the workspace, it is heard."""

        @functools.wraps(function)
        def looked(path: Any, *arguments: Any, **named: Any) -> Any:
            __tracebackhide__ = True
            found = function(path, *arguments, **named)
            if found is False:
                self._missed_file(path, _frame(1))
            return found

        return looked

    def _missed_file(self, path: object, frame: FrameType) -> None:
        if self._busy or not isinstance(path, (str, bytes, os.PathLike)):
            return
        self._busy = True
        try:
            text = os.fsdecode(path)  # pyright: ignore[reportUnknownArgumentType]
            if text in self._looked:
                return
            mine = self._mine(frame, _READ_FILES)
            # Who looks for .env does so for the tests, whoever it is.
            if mine is not None or os.path.basename(text).startswith(".env"):
                if len(self._looked) < LOOKED:
                    self._looked.add(text)
                why = self._why_not(text)
                if why:
                    self._add("file", _abspath(text), why, mine)
        except (OSError, ValueError):
            pass
        finally:
            self._busy = False

    @staticmethod
    def _why_not(path: str) -> str:
        """Why a file or folder cannot be read, "" when it can. Nothing but plain files and folders is opened."""
        try:
            mode = _stat(path).st_mode
            if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
                _close(_open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))
        except PermissionError:
            return "denied"
        except OSError:
            return "missing"
        return ""

    # --- what the interpreter tells --------------------------------------------------------------------------

    def _hear(self, event: str, arguments: Tuple[Any, ...]) -> None:
        if event == "open":
            if not self._busy and not (arguments[2] or 0) & _WRITING and not isinstance(arguments[0], int):
                self._missed_file(arguments[0], _frame(1))
        elif event in ("os.listdir", "os.scandir", "sqlite3.connect"):
            if not self._busy and not isinstance(arguments[0], int):
                self._missed_file(arguments[0] or ".", _frame(1))
        elif event.startswith("socket."):
            self._hear_socket(event, arguments)

    def _hear_socket(self, event: str, arguments: Tuple[Any, ...]) -> None:
        if event == "socket.bind":
            self._bound = [known for known in self._bound if known() is not None][:MOST]
            self._bound.append(weakref.ref(arguments[0]))
        elif event == "socket.connect":
            address: Any = arguments[1]
            if isinstance(address, (str, bytes)):
                self._add("address", os.fsdecode(address), "connect", None)
            elif len(address) > 1 and address[1] not in self._own_ports():
                self._add("address", "%s:%s" % (address[0], address[1]), "connect", None)
        elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
            name, port = (*arguments, "")[:2]
            host = os.fsdecode(name) if isinstance(name, (str, bytes)) else ""
            if host not in ("", "localhost") and ":" not in host and host.strip("0123456789."):
                self._add("address", "%s:%s" % (host, port or ""), "name", None)

    def _own_ports(self) -> Set[Any]:
        """Ports that sockets of this process have: a server of the test's own is none that is missing."""
        ports: Set[Any] = set()
        for known in self._bound:
            opened = known()
            try:
                if opened is not None:
                    ports.add(opened.getsockname()[1])
            except (OSError, IndexError):
                pass
        return ports
