"""Which folders an interpreter needs to be able to read, found without ever starting it.

A virtual environment inside the workspace runs code of its own (`*.pth`, sitecustomize) as soon as its
interpreter starts, so it is never started outside a seal: `pyvenv.cfg` and links are read as text.
"""

from __future__ import annotations

import os
from pathlib import Path

from regreen.errors import RegreenError

_SYSTEM = (Path("/usr"), Path("/bin"), Path("/lib"), Path("/lib64"), Path("/sbin"))
CERTIFICATES = (
    "ssl/certs", "ssl/cert.pem", "ssl/ca-bundle.pem", "ssl/openssl.cnf", "ssl/ct_log_list.cnf",
    "pki/ca-trust", "pki/java", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf", "pki/tls/openssl.d",
)  # fmt: skip
"""Below /etc: what everybody may read of TLS. Beside it lie the private keys of the computer's own servers
(`ssl/private`), which root, or a user of the group, can read."""

_PARTS = ("bin", "lib", "lib64", "libexec", "include", "pyvenv.cfg", "Python", "Resources")
_MORE_PARTS = ("share", "Cellar", "opt", "Frameworks")
_OF_MANY = (".git", "pyproject.toml", "setup.py", "setup.cfg", "var", "Cellar")
"""Beside an interpreter, these say that other things than Python lie there: a project, the data of programs."""


def within(path: Path, folder: Path) -> bool:
    """True when `path` is `folder` or lies below it, by name alone (no link is followed)."""
    return path == folder or folder in path.parents


def interpreter_paths(python: Path, workspace: Path, home: Path | None = None) -> tuple[Path, ...]:
    """Files and folders to make readable for `python`, at their own paths, system folders left out.

    A prefix that other things lie in as well (the home folder, `~/.local`, a project with its environment in its root,
    Homebrew) is never taken whole: only its library folders are. What a link or a `pyvenv.cfg` points to counts only
    where there is an interpreter, since both can come with the workspace. Raises RegreenError when there is no
    such interpreter.
    """
    if not python.is_absolute() or not os.access(python, os.X_OK):
        raise RegreenError(f"There is no Python to run at {python}. Choose another one with --python PATH.")
    home = (home or Path("~").expanduser()).absolute()
    found: list[Path] = []
    for prefix in _prefixes(python):
        if any(within(prefix, system) for system in _SYSTEM):
            continue
        if parts := _parts(prefix, workspace, home):
            found += [prefix / part for part in parts if (prefix / part).exists()]
        elif prefix.is_dir():
            found.append(prefix)
    return tuple(dict.fromkeys(found))


def _parts(prefix: Path, workspace: Path, home: Path) -> tuple[str, ...]:
    """The parts of a prefix that are Python's, () for all of it."""
    names = {
        prefix,
        Path(os.path.realpath(prefix)),
    }  # A link in the workspace can lead to the folder above it.
    personal = {place for kept in (home, home / ".local") for place in (kept, Path(os.path.realpath(kept)))}
    if any(within(place, name) for place in personal for name in names):
        return _PARTS
    held = (workspace, Path(os.path.realpath(workspace)))
    if any(within(place, name) for place in held for name in names):
        return (*_PARTS, *_MORE_PARTS)
    return (*_PARTS, *_MORE_PARTS) if any((prefix / name).exists() for name in _OF_MANY) else ()


def user_site(python: Path, home: Path | None = None) -> tuple[Path, ...]:
    """The `pip install --user` libraries an interpreter outside a virtual environment would see, if any."""
    if any((prefix / "pyvenv.cfg").is_file() for prefix in _prefixes(python)):
        return ()
    base = (home or Path("~").expanduser()) / ".local" / "lib"
    try:
        return tuple(
            sorted(folder for folder in base.glob("python3*") if (folder / "site-packages").is_dir())
        )
    except OSError:
        return ()


def _prefixes(python: Path) -> list[Path]:
    """Every folder that can be `sys.prefix` or `sys.base_prefix`: one for each link on the way, and homes."""
    found: list[Path] = []
    todo = [python]
    seen: set[Path] = set()
    while todo:
        here = todo.pop(0)
        if here in seen or len(seen) > 40:
            continue
        seen.add(here)
        prefix = _prefix(here)
        found.append(prefix)
        base = _base_home(prefix / "pyvenv.cfg")
        if base is not None:
            todo.append(base / here.name)
        if here.is_symlink():
            todo.append(Path(os.path.normpath(here.parent / here.readlink())))
    found.append(_prefix(Path(os.path.realpath(python))))
    found += [Path(os.path.realpath(prefix)) for prefix in found]
    return list(dict.fromkeys(found))


def _prefix(python: Path) -> Path:
    """The prefix of an interpreter: the folder above `bin`, or above any other folder if the libraries are there;
    else the interpreter's own folder."""
    above = python.parent.parent
    return above if python.parent.name == "bin" or any(above.glob("lib*/python3*")) else python.parent


def _base_home(config: Path) -> Path | None:
    """The `home` key of a pyvenv.cfg (PEP 405): the folder of the interpreter the environment was made from. None when
    there is no interpreter in it: anything can be written into such a file."""
    try:
        text = config.read_bytes()[: 1 << 16].decode("utf-8", "replace")
    except OSError:
        return None
    for line in text.splitlines():
        key, found, value = line.partition("=")
        if found and key.strip().lower() == "home" and value.strip():
            home = Path(os.path.normpath(value.strip()))
            return home if home.is_absolute() and _holds_interpreter(home) else None
    return None


def _holds_interpreter(folder: Path) -> bool:
    try:
        return any(
            path.is_file() and os.access(path, os.X_OK)
            for pattern in ("python*", "pypy*", "graalpy*")
            for path in folder.glob(pattern)
        )
    except (OSError, ValueError):
        return False
