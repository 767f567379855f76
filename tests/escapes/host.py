"""Plays a person's computer with secrets on it, lets hostile code run under one seal, and tells what came of it.

`python host.py SEAL BASE SERVER INTERPRETER [CASE...]`, run as the person (root, or an ordinary user): prints one line of
JSON for each case, {"name", "problems"}. Only the standard library and Regreen's seal are imported.
"""

# ruff: noqa: ASYNC110

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import hashlib
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

SEAL, BASE, SERVER, INTERPRETER = sys.argv[1], Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
sys.path[:0] = [SERVER, str(Path(__file__).parent)]

from cases import CANCELLED, CASES, FILES, OWN_FILES, PRELUDE, SOCKETS, Case  # noqa: E402

from regreen.testing.seal import bubblewrap, landlock  # noqa: E402
from regreen.testing.seal.door import Access, Limits, Seal  # noqa: E402
from regreen.workspace import confine  # noqa: E402
from regreen.workspace.changes import FileChange  # noqa: E402
from regreen.workspace.journal import Journal  # noqa: E402
from regreen.workspace.root import PathRefused, Workspace  # noqa: E402
from regreen.workspace.trial import remove_tree  # noqa: E402
from regreen.workspace.writer import Conflict, Writer  # noqa: E402

SECRET = f"secret-{secrets.token_hex(12)}"
TRAPS = (
    "LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTEST_ADDOPTS", "PYTEST_PLUGINS",
    "BASH_ENV", "ENV", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY",
    "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DOCKER_HOST", "KUBECONFIG", "HTTP_PROXY", "https_proxy", "PERL5OPT",
    "NODE_OPTIONS", "PIP_INDEX_URL",
)  # fmt: skip
CANARY = f"canary-{secrets.token_hex(6)}"


class Host:
    """Home with keys, a workspace, listening sockets, descriptors left open."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.workspace = self.home / "code" / "shop"
        self.trials = self.home / ".cache" / "regreen"
        (self.workspace / ".git" / "hooks").mkdir(parents=True)
        self.trials.mkdir(parents=True)
        (self.home / ".ssh").mkdir()
        self.secret = self.home / ".ssh" / "id_rsa"
        self.secret.write_text(SECRET)
        (self.home / ".bashrc").write_text("# mine\n")
        (self.home / "secret").write_text(SECRET)
        (self.workspace / ".env").write_text(SECRET)
        (self.workspace / "cart.py").write_text("x = 1\n")
        self.home.chmod(0o700)
        os.environ.update(HOME=str(self.home), SHOP_TOKEN=SECRET, AWS_SECRET_ACCESS_KEY=SECRET)
        self.left_open = [os.open(self.secret, os.O_RDONLY), os.open(self.home, os.O_RDONLY | os.O_DIRECTORY)]
        for fd in self.left_open:
            os.set_inheritable(fd, True)
        self.heard: list[str] = []
        self.abstract = f"regreen-{secrets.token_hex(4)}"
        self.socket = str(base / "s")
        self.datagram = str(base / "d")
        os.environ.update(dict.fromkeys(TRAPS, "/nowhere"))
        self.shared = self._share()
        self._listen()

    @staticmethod
    def _share() -> int:
        """Memory shared by key, with the secret in it."""
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        key = secrets.randbelow(1 << 30) + 1
        number = libc.shmget(key, 4096, 0o1600)
        place = libc.shmat(number, None, 0)
        ctypes.memmove(place, SECRET.encode(), len(SECRET))
        atexit.register(libc.shmctl, number, 0, None)  # IPC_RMID
        return key

    def _listen(self) -> None:
        tcp = socket.create_server(("0.0.0.0", 0))
        self.port = tcp.getsockname()[1]
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("0.0.0.0", self.port))
        abstract = socket.socket(socket.AF_UNIX)
        abstract.bind("\0" + self.abstract)
        abstract.listen()
        path = socket.socket(socket.AF_UNIX)
        path.bind(self.socket)
        path.listen()
        for name, listening in (("tcp", tcp), ("abstract", abstract), ("unix", path)):
            threading.Thread(target=self._accept, args=(name, listening), daemon=True).start()
        datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        datagrams.bind(self.datagram)
        for name, receiving in (("udp", udp), ("datagram", datagrams)):
            threading.Thread(target=self._receive, args=(name, receiving), daemon=True).start()

    def _accept(self, name: str, listening: socket.socket) -> None:
        while True:
            listening.accept()[0].close()
            self.heard.append(name)

    def _receive(self, name: str, receiving: socket.socket) -> None:
        while True:
            receiving.recv(100)
            self.heard.append(name)

    def names(self) -> str:
        values = {
            "HOME": str(self.home),
            "WORKSPACE": str(self.workspace),
            "SECRET_FILE": str(self.secret),
            "OWNER": os.getpid(),
            "PORT": self.port,
            "ABSTRACT": self.abstract,
            "SOCKET": self.socket,
            "DATAGRAM": self.datagram,
            "SHARED": self.shared,
            "CANARY": CANARY,
        }
        return "".join(f"{name} = {value!r}\n" for name, value in values.items())

    def state(self) -> str:
        """A digest of everything of the person's: names, contents, modes; the trials are left out."""
        found = hashlib.sha256()
        for folder, folders, files in os.walk(self.home):
            folders.sort()
            if Path(folder) == self.trials:
                folders.clear()
                continue
            for name in sorted([*folders, *files]):
                path = Path(folder, name)
                status = path.lstat()
                if path == self.trials:
                    continue
                content = path.read_bytes() if path.is_file() else b""
                marks = os.listxattr(path, follow_symlinks=False)
                found.update(repr((str(path), status.st_mode, status.st_uid, content, marks)).encode())
        for place in ("/etc/passwd", "/proc/sys/kernel/core_pattern"):
            found.update(Path(place).read_bytes())
        found.update(repr(sorted(map(str, Path("/").iterdir()))).encode())
        return found.hexdigest()


def survivors(mark: str) -> list[str]:
    """Living processes whose environment or command line carries the mark of a case."""
    found: list[str] = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            line = (folder / "cmdline").read_bytes()
            if mark.encode() in line and b"host.py" not in line:
                found.append(line[:200].decode("utf-8", "replace").replace("\0", " "))
    return found


async def play(case: Case, seal: Seal, host: Host) -> list[str]:
    """Run one case; what went wrong, in words."""
    problems: list[str] = []
    mark = f"{CANARY}-{secrets.token_hex(4)}"
    folder = host.trials / mark
    tree, scratch = folder / "tree", folder / "scratch"
    for made in (tree, scratch):
        made.mkdir(parents=True)
    (tree / "cart.py").write_text("x = 1\n")
    access = Access(host.workspace, tree, scratch, INTERPRETER)
    limits = Limits(**{"wall": 20.0, **case.limits})  # type: ignore[arg-type]
    code = PRELUDE + host.names() + case.code
    running = await seal.start([str(INTERPRETER), "-I", "-c", code, mark], access, limits)
    ended = await running.wait()
    output = ended.output.decode("utf-8", "replace")
    if ended.status not in case.statuses:
        problems.append(f"ended as {ended.status}: {ended.detail}")
    if case.never and (found := re.search(f".*{case.never}.*", output)):
        problems.append(f"printed {found[0][:300]}")
    problems += [f"did not print {word}" for word in case.must if not re.search(word, output, re.MULTILINE)]
    if SECRET in output:
        problems.append("the secret came out")
    end = time.monotonic() + 2
    while (left := survivors(mark)) and time.monotonic() < end:
        await asyncio.sleep(0.02)
    if left:
        problems.append(f"{len(left)} processes are left: {left[0]}")
    # grep, since the folders may be deeper than a path is long. Pipes and links are passed over.
    found = subprocess.run(  # noqa: ASYNC221
        ["grep", "-rlsF", "--devices=skip", SECRET, "."],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    problems += [f"the secret lies in {line!r}" for line in found.stdout.splitlines()]
    remove_tree(folder)
    if folder.exists():
        problems.append("the trial could not be removed")
    if problems:
        problems.append(output[-1500:])
    return problems


async def cancelled(seal: Seal, host: Host) -> list[str]:
    """Start and cancel after 0 to 14 ms, over and over; what is left."""
    mark = f"{CANARY}-cancelled"
    folder = host.trials / mark
    for made in ("tree", "scratch"):
        (folder / made).mkdir(parents=True)
    access = Access(host.workspace, folder / "tree", folder / "scratch", INTERPRETER)
    code = "import os, time\nos.fork(); os.fork()\ntime.sleep(600)"

    async def run() -> None:
        running = await seal.start([str(INTERPRETER), "-I", "-S", "-c", code, mark], access, Limits(wall=60))
        await running.wait()

    for number in range(30):
        task = asyncio.create_task(run())
        await asyncio.sleep(number % 15 / 1000)
        task.cancel()
        await asyncio.wait({task})
    end = time.monotonic() + 2
    while (left := survivors(mark)) and time.monotonic() < end:
        await asyncio.sleep(0.02)
    remove_tree(folder)
    return [f"{len(left)} processes are left: {left[0]}"] if left else []


def own_files(host: Host) -> list[str]:
    """What a model asks our own file layer for, with openat2 and without."""
    problems: list[str] = []
    kernel = confine._openat2  # pyright: ignore[reportPrivateUsage]
    try:
        for way in ("openat2", "walk"):
            confine._openat2 = kernel if way == "openat2" else no_openat2  # pyright: ignore[reportPrivateUsage]
            base = host.home / f"files-{way}"
            problems += [f"{way}: {problem}" for problem in attack_files(base, host.secret)]
            remove_tree(base)
    finally:
        confine._openat2 = kernel  # pyright: ignore[reportPrivateUsage]
    return problems


def attack_files(base: Path, secret: Path) -> list[str]:
    """Reads and writes that must all be refused, in a workspace full of links and special files."""
    root = base / "ws"
    (root / "src").mkdir(parents=True)
    (root / "cart.py").write_bytes(b"x = 1\n")
    (root / "link").symlink_to(secret)
    (root / "up").symlink_to("..")
    (root / "dangling").symlink_to(base / "created")
    (root / "magic").symlink_to("/proc/self/root")
    (root / ".env").write_bytes(SECRET.encode())
    os.link(secret, root / "hard")
    os.mkfifo(root / "pipe")
    (root / "zero").symlink_to("/dev/zero")
    workspace = Workspace.open(root)
    writer = Writer(workspace, Journal(base / "journal", "escapes"))
    problems: list[str] = []
    for path in ("link", "up/x", "dangling", f"magic{secret}", ".env", "hard", "pipe", "zero", f"..{secret}",
                 str(secret), "../x", "~/.ssh/id_rsa", "a//b", "C:x", "src/../cart.py", "nul"):  # fmt: skip
        with contextlib.suppress(PathRefused, FileNotFoundError):
            problems.append(f"read {path}: {workspace.read(path)[:20]!r}")
        for before in (None, SECRET):
            change = FileChange(path, before, "owned\n", None if before is None else before.encode())
            with contextlib.suppress(PathRefused, Conflict):
                writer.write(change)
                problems.append(f"wrote {path}")
    for path in (
        "conftest.py",
        "tests/test_x.py",
        ".git/hooks/post-commit",
        "sitecustomize.py",
        "a.pth",
        "tox.ini",
    ):
        with contextlib.suppress(PathRefused):
            writer.write(FileChange(path, None, "owned\n", None))
            problems.append(f"wrote {path}")
    if secret.read_text() != SECRET or (base / "created").exists() or (base / "x").exists():
        problems.append("something outside changed")
    workspace.close()
    (root / "hard").unlink()
    return problems


def no_openat2(folder: int, path: str, flags: int) -> int:
    """A kernel without openat2."""
    raise OSError(38, "not there")


async def main() -> None:
    """Play all cases of this seal, a few at a time, and look at the host after each and at the end."""
    host = Host(BASE)
    program, why = bubblewrap.find()
    if SEAL == "bubblewrap":
        if program is None:
            raise SystemExit(why)
        seal: Seal = bubblewrap.Bubblewrap(program)
    else:
        seal = landlock.Landlock()
    before = host.state()
    turn = asyncio.Semaphore(3)

    async def one(case: Case) -> None:
        async with turn:
            tell({"name": case.name, "problems": await play(case, seal, host)})

    names = sys.argv[5:]
    chosen = [case for case in CASES if SEAL in case.seals and (not names or case.name in names)]
    await asyncio.gather(*(one(case) for case in chosen))
    tell({"name": CANCELLED, "problems": await cancelled(seal, host)})
    tell({"name": OWN_FILES, "problems": own_files(host)})
    tell({"name": FILES, "problems": [] if host.state() == before else ["a file of the person changed"]})
    tell({"name": SOCKETS, "problems": [f"heard: {name}" for name in host.heard]})


def tell(result: dict[str, Any]) -> None:
    """One line of the answer."""
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
