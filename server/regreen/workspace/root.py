"""The workspace: the one folder a run may touch, and which folders can never be one."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path

from regreen.errors import UsageError
from regreen.workspace.confine import Root
from regreen.workspace.names import DEEPEST, PathRefused, fold, split
from regreen.workspace.policy import Policy, Ruling, python_files

__all__ = ["PathRefused", "Workspace", "find_root"]

MARKERS = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini")
_CONFIG = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_SKIPPED = frozenset(
    (
        ".git", ".hg", ".svn", ".venv", "venv", ".conda", ".pixi", ".direnv", "node_modules", "__pycache__",
        ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".pyre", ".pytype", ".ipynb_checkpoints",
        ".eggs", "site-packages", ".hypothesis",
    )
)  # fmt: skip
_ENVIRONMENT_MARKS = frozenset(("pyvenv.cfg", "conda-meta"))
_ENVIRONMENT_FOLDERS = frozenset(("bin", "scripts", "lib", "lib64", "include", "share", "etc", "conda-meta"))
# Whole trees of the system, and folders that only hold other people's folders.
_SYSTEM_TREES = {
    "linux": ("/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/dev", "/proc", "/sys"),
    "darwin": (
        "/usr",
        "/etc",
        "/bin",
        "/sbin",
        "/System",
        "/Library",
        "/Applications",
        "/dev",
        "/private/etc",
    ),
    "win32": (),
}
_HOLDERS = ("/home", "/Users", "/root", "/var", "/opt", "/srv", "/mnt", "/media", "/tmp", "/var/tmp", "/private",
            "/private/tmp", "/private/var", "/Volumes", "/lost+found", "/run", "/run/user", "/run/media", "/dev/shm")  # fmt: skip
_PERSONAL = ("Documents", "Desktop", "Downloads", "Library", "AppData", ".config", ".local", ".cache", ".ssh")


class Workspace:
    """One folder, opened when a run starts; nothing a model says moves it. Paths are relative, forward slashes."""

    def __init__(self, folder: Root, policy: Policy) -> None:
        self._folder = folder
        self.policy = policy

    @classmethod
    def open(cls, root: Path, policy: Policy | None = None) -> Workspace:
        """Open `root`. Raises UsageError for folders that are no project: home, system folders, a drive."""
        if sys.platform == "win32":
            # Files are opened relative to an open folder, which Python cannot do there, and checks by name can be
            # outrun; and tests could not be sealed. Half of a rail is none.
            raise UsageError(
                "Regreen does not run on Windows itself: it could keep neither its own edits nor the tests inside one "
                "folder. Run it in WSL 2."
            )
        real = Path(os.path.realpath(root))
        reason = refused_as_workspace(real)
        if reason:
            raise UsageError(
                f"Regreen does not work in {real}: {reason}. Choose the project's folder with --workspace DIR."
            )
        try:
            folder = Root(real)
        except OSError as error:
            raise UsageError(
                f"The workspace {real} cannot be opened ({error.strerror}). Choose another --workspace."
            ) from error
        workspace = cls(folder, policy or Policy())
        if policy is None:
            workspace.policy = Policy(workspace._own_test_patterns())
        return workspace

    @property
    def root(self) -> Path:
        """The folder's real path."""
        return self._folder.path

    @property
    def folder(self) -> Root:
        """The open folder, for the writer."""
        return self._folder

    def read(self, path: str, limit: int = 8 << 20) -> bytes:
        """A file's bytes. Raises PathRefused, which names the rule, and FileNotFoundError."""
        self.may_read(path)
        self._folder.check()
        return self._folder.read(split(path), limit)[0]

    def may_read(self, path: str) -> None:
        """Raises PathRefused when the model may not see the file."""
        ruling = self.policy.for_reading(path)
        if ruling.permission != "allow":
            raise PathRefused(ruling.reason)

    def may_write(self, path: str, after: str | None = None) -> Ruling:
        """Whether the agent may write the file, with the reason. `after`, when known, is what it would hold: a
        table for pytest in it makes a configuration file locked. Impossible paths are refused, not raised."""
        try:
            names = split(path)
            self._check_surroundings(names)
            return self.policy.for_writing(path, (self._content(path), after))
        except PathRefused as error:
            return Ruling("refused", str(error))

    def files(self, under: str = "") -> list[str]:
        """All files below a folder, "" for the root: relative paths, sorted. Histories, environments, caches,
        secrets, links, and names that could not be asked for are left out. Raises PathRefused and
        FileNotFoundError."""
        self._folder.check()
        found: list[str] = []
        with self._folder.folder(split(under) if under else ()) as fd:
            self._list(fd, f"{under}/" if under else "", found)
        return sorted(found)

    def close(self) -> None:
        """Let go of the folder. Safe to call twice."""
        self._folder.close()

    def _list(self, folder: int, prefix: str, found: list[str]) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.scandir(folder) as entries:
            for entry in entries:
                path = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if entry.name in _SKIPPED or prefix.count("/") >= DEEPEST:
                        continue
                    with contextlib.suppress(OSError):
                        inner = os.open(entry.name, flags, dir_fd=folder)
                        try:
                            if "pyvenv.cfg" not in os.listdir(inner):  # noqa: PTH208
                                self._list(inner, path + "/", found)
                        finally:
                            os.close(inner)
                elif entry.is_file(follow_symlinks=False) and self._can_be_shown(path):
                    found.append(path)

    def _can_be_shown(self, path: str) -> bool:
        try:
            return self.policy.for_reading(path).permission == "allow"
        except (PathRefused, UnicodeError):
            return False

    def _content(self, path: str) -> bytes | None:
        try:
            return self._folder.read(split(path), 1 << 20)[0]
        except (OSError, PathRefused):
            return None

    def _check_surroundings(self, names: tuple[str, ...]) -> None:
        """What lies around a file can make it one that is run later: in a virtual environment, whatever it is
        called, and in a folder with HEAD, objects and refs, which git takes for a repository whose config it obeys.
        """
        for depth in range(len(names)):
            try:
                with self._folder.folder(names[:depth]) as fd:
                    inside = {fold(name) for name in os.listdir(fd)}  # noqa: PTH208
            except (OSError, PathRefused):
                return
            place, name = "/".join(names[:depth]), fold(names[depth])
            if inside >= {"head", "objects", "refs"} - {name} and (
                depth or name in ("head", "objects", "refs", "config")
            ):
                raise PathRefused(f"protected, a git repository lies there: '{place or names[0]}'")
            if not inside.isdisjoint(_ENVIRONMENT_MARKS) and (depth or name in _ENVIRONMENT_FOLDERS):
                raise PathRefused(f"protected, a virtual environment lies there: '{place or names[0]}'")

    def _own_test_patterns(self) -> list[str]:
        for name in _CONFIG:
            content = self._content(name)
            patterns = python_files(content.decode("utf-8", "replace")) if content else []
            if patterns:
                return [pattern for pattern in patterns if pattern.endswith(".py") and pattern != "*.py"]
        return []


def refused_as_workspace(folder: Path) -> str:
    """Why a folder (a real path) can never be a workspace, "" when it can."""
    if folder == folder.parent:
        return "it is a whole drive"
    home = Path(os.path.realpath(Path("~").expanduser()))
    if folder == home:
        return "it is your home folder"
    if _is_somebodys_home(folder):
        return "it is a home folder"
    if folder in home.parents or str(folder) in _HOLDERS:
        return "it holds the folders of other people or programs"
    if folder in [*(home / name for name in _PERSONAL), *_user_folders(home)]:
        return "it is one of your personal folders"
    if any(home / name in folder.parents for name in (".ssh", ".gnupg", ".aws", ".config")):
        return "it holds settings or keys"
    trees = [Path(tree) for tree in _SYSTEM_TREES.get(sys.platform, _SYSTEM_TREES["linux"])]
    if sys.platform == "win32":
        trees += [
            Path(os.environ[name])
            for name in ("SYSTEMROOT", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMDATA")
            if name in os.environ
        ]
    if Path("/dev/shm") not in folder.parents and any(tree in (folder, *folder.parents) for tree in trees):
        return "it belongs to the system"
    return ""


def _is_somebodys_home(folder: Path) -> bool:
    """Whether the system knows a user whose home it is, below the folder that holds homes: with sudo, or another HOME,
    it need not be that of this process."""
    if str(folder.parent) not in ("/home", "/Users", "/var/home", "/export/home"):
        return False
    try:
        import pwd
    except ImportError:
        return False
    return any(os.path.realpath(user.pw_dir) == str(folder) for user in pwd.getpwall())


def _user_folders(home: Path) -> list[Path]:
    """Documents, Desktop and the like under the names they have in the person's language (user-dirs.dirs)."""
    try:
        text = (home / ".config" / "user-dirs.dirs").read_bytes().decode("utf-8", "replace")
    except OSError:
        return []
    found = re.findall(r'^XDG_\w+_DIR="\$HOME/([^"]+)"', text, re.MULTILINE)
    return [home / name.rstrip("/") for name in found]


def find_root(target: Path) -> Path:
    """The workspace for a target, when none is given: the outermost folder at or below the git root that holds a
    project file; else the git root; else the target's own folder. Without git, the nearest folder that holds a
    project file counts, so that a stray file far above does not; and a repository whose root is refused, such as a home
    folder that is one, counts as none. Folders that are refused are passed over, and nothing above them is looked at."""
    start = Path(os.path.realpath(target))
    if not start.is_dir():
        start = start.parent
    upwards: list[Path] = []
    for folder in (start, *start.parents):
        if refused_as_workspace(folder):
            break
        upwards.append(folder)
    git = next((folder for folder in upwards if (folder / ".git").exists()), None)
    below = upwards[: upwards.index(git) + 1] if git else upwards
    marked = [folder for folder in below if any((folder / marker).is_file() for marker in MARKERS)]
    if marked:
        return marked[-1] if git else marked[0]
    return git or start
