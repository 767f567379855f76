"""The strong seal: Linux namespaces made by bubblewrap, with a root folder that holds only what is listed here.

Why each odd argument is there:
- bubblewrap itself starts with the clean environment: process 1 of the new space keeps the one it was started
  with, readable in /proc/1/environ, whatever `--clearenv` says.
- The trial is mounted at the workspace's own path, so that editable installs and absolute paths mean the trial.
- `--remount-ro /` and `/dev`: otherwise both are memory disks without a limit.
- `--proc` with /proc/sys mounted over itself read-only: for root it would be the host's.
- Process 1 of the space is found by `--info-fd` and killed by a pidfd, which takes everything inside with it;
  a bubblewrap killed in its first milliseconds leaves its child alive.
- A shell inside says that everything stands and waits for "go" on its standard input, until process 1 is known
  and limits are set. If we die before, it reads an end of file and ends by itself; later, `--die-with-parent` works.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import select
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from regreen.errors import RegreenError
from regreen.testing.seal import environment, mounts, seccomp
from regreen.testing.seal.door import Access, Limits
from regreen.testing.seal.privileges import give, is_root, nobody
from regreen.testing.seal.process import SealedProcess, rlimits
from regreen.testing.seal.usage import descendants, is_dead

# Never looked up in PATH, which the workspace or the editor may have changed.
PLACES = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap")
HOME = Path("/home/sealed")
TEMP = Path("/tmp")
_NEEDED = (
    "--perms",
    "--info-fd",
    "--block-fd",
    "--seccomp",
    "--die-with-parent",
    "--new-session",
    "--remount-ro",
)
_ROOT_NEEDS = "setpriv"
_WAIT_FOR_GO = 'echo "$1" && read -r go && [ "$go" = go ] || exit 125; shift; exec "$@" </dev/null'


class Bubblewrap:
    """Implements `door.Seal` with bubblewrap; `mounts` is True."""

    name = "bubblewrap"
    mounts = True

    def __init__(self, program: Path) -> None:
        self._program = program
        self._options = options(program)

    async def start(
        self,
        argv: Sequence[str],
        access: Access,
        limits: Limits,
        env: Mapping[str, str] | None = None,
        inherit: Sequence[int] = (),
    ) -> SealedProcess:
        """See `door.Seal.start`. Started as root, the command runs as an id of nobody's (`privileges.nobody`)."""
        if is_root():
            await asyncio.to_thread(give, access.tree, access.scratch)
        token = f"regreen-{os.urandom(8).hex()}"
        popen, info = self._launch(token, argv, access, limits, env or {}, inherit)
        hold = _Space(popen, info)
        running = SealedProcess(
            popen, hold, token.encode(), limits, (access.tree, access.scratch), (HOME, TEMP, Path("/dev/shm"))
        )
        await running.up(hold.let_go)
        return running

    def _launch(
        self,
        token: str,
        argv: Sequence[str],
        access: Access,
        limits: Limits,
        env: Mapping[str, str],
        inherit: Sequence[int],
    ) -> tuple[subprocess.Popen[bytes], int]:
        """Start bubblewrap; with it, the file that will hold what --info-fd says."""
        plan = mounts.plan(access, limits, home=HOME, temp=TEMP, sizes="--size" in self._options)
        clean = environment.clean(access.python, HOME, TEMP, {**plan.env, **env})
        info = os.memfd_create("regreen-info")
        passed: list[int] = []
        try:
            command = [str(self._program), *self._spaces(access.network)]
            command += ["--seccomp", str(_memory_file(_filter(), passed))]
            command += plan.arguments(lambda data: _memory_file(data, passed))
            command += [
                "--info-fd",
                str(info),
                "--",
                "/bin/sh",
                "-c",
                _WAIT_FOR_GO,
                "sh",
                token,
                *_step_down(),
                *argv,
            ]
            popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=clean,
                cwd="/",
                pass_fds=[info, *passed, *inherit],
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            os.close(info)
            raise RegreenError(f"bubblewrap could not be started: {error}") from error
        finally:
            for fd in passed:
                os.close(fd)
        return popen, info

    def _spaces(self, network: bool) -> list[str]:
        """Which namespaces are new. As root without a user namespace: see `_step_down`."""
        wanted = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        if not network:
            wanted.append("--unshare-net")
        if is_root():
            capabilities = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
            wanted += ["--cap-drop", "ALL", *(word for name in capabilities for word in ("--cap-add", name))]
        else:
            wanted += ["--unshare-user", "--cap-drop", "ALL"]
            if "--disable-userns" in self._options:
                wanted.append("--disable-userns")
        return [*wanted, "--die-with-parent", "--new-session", "--hostname", "sealed"]


class _Space:
    """Implements `process.Hold` for one process space. `info` is a file in memory that --info-fd is written to: a
    pipe would kill bubblewrap half-way when we die, and leave its child waiting for ever."""

    def __init__(self, popen: subprocess.Popen[bytes], info: int) -> None:
        self._popen, self._info = popen, info
        self._pidfd = -1
        self.root = 0

    def let_go(self, limits: Limits) -> None:
        """The command's shell waits for its word: hold on to process 1, set limits, say it."""
        import resource

        if not self._learn():
            raise RegreenError("bubblewrap did not tell which process it started. Is it older than 0.4?")
        kinds = rlimits(limits, shared=is_root()).items()
        for pid in descendants(self.root):
            for name, value in kinds:
                _limit(pid, getattr(resource, f"RLIMIT_{name}"), value)
        assert self._popen.stdin is not None
        with contextlib.suppress(OSError):
            self._popen.stdin.write(b"go\n")
            self._popen.stdin.close()

    def _learn(self) -> bool:
        """Find process 1, if bubblewrap has told of it. It lives as long as bubblewrap does, so its id is its own."""
        if self._pidfd < 0:
            with contextlib.suppress(ValueError, KeyError, OSError):
                pid = int(json.loads(os.pread(self._info, 4096, 0))["child-pid"])
                self._pidfd = os.pidfd_open(pid)
                self.root = pid
        return self._pidfd >= 0

    def kill(self) -> None:
        # Killed before process 1 is known, bubblewrap would leave it alive: so ask, it takes milliseconds.
        end = time.monotonic() + 1
        while not self._learn() and not is_dead(self._popen.pid) and time.monotonic() < end:
            time.sleep(0.0005)
        if self._pidfd >= 0:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        if self._popen.returncode is None:
            with contextlib.suppress(OSError):
                os.kill(self._popen.pid, signal.SIGKILL)
        assert self._popen.stdin is not None
        with contextlib.suppress(OSError):
            self._popen.stdin.close()

    def insist(self) -> None:
        """Wait for the very end of process 1 (it takes everything inside along): usually less than 1 ms."""
        if self._pidfd >= 0:
            select.select([self._pidfd], [], [], 0.3)

    def returncode(self, launcher: int) -> int | None:
        return launcher if launcher >= 0 else None

    def release(self) -> None:
        for fd in (self._info, self._pidfd):
            if fd >= 0:
                os.close(fd)
        self._info = self._pidfd = -1


def find() -> tuple[Path | None, str]:
    """A bubblewrap that can be trusted, or None with the reason: owned by root, not writable by others, not setuid."""
    why = "bubblewrap is not installed"
    for place in PLACES:
        try:
            found = Path(place).stat()
        except OSError:
            continue
        if found.st_uid != 0 or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            why = f"{place} can be changed by other users"
        elif found.st_mode & stat.S_ISUID:
            why = f"{place} is setuid, which older versions made a way out"
        elif missing := [option for option in _NEEDED if option not in options(Path(place))]:
            why = f"{place} is too old (it lacks {missing[0]})"
        elif not seccomp.supported():
            why = "system calls cannot be filtered on this machine"
        elif is_root() and not _trusted(_ROOT_NEEDS):
            why = "setpriv (package util-linux) is missing, which root needs"
        else:
            return Path(place), ""
    return None, why


@functools.cache
def options(program: Path) -> frozenset[str]:
    """The options this bubblewrap knows, from its own help: distributions patch, so versions say little."""
    try:
        found = subprocess.run(
            [program, "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={},
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    words = (found.stdout + found.stderr).decode("utf-8", "replace").split()
    return frozenset(word for word in words if word.startswith("--"))


def _limit(pid: int, kind: int, value: int) -> None:
    """Set a kernel limit of a process that waits for its word, as far down as the one it has."""
    import resource

    try:
        hard = resource.prlimit(pid, kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, kind, (value, value))
    except ProcessLookupError:
        return
    except OSError as error:
        raise RegreenError(f"The limits of the test process could not be set: {error}") from error


def _step_down() -> list[str]:
    """What root's command goes through. bubblewrap must start as root, since the interpreter or the trial may
    lie below a closed home; it keeps three capabilities, and setpriv uses them up to become nobody. That comes
    after the word to go: until then limits can be set, also by a root who cannot limit other users' processes."""
    if not is_root():
        return []
    user = str(nobody())
    drop = ["--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    return [str(_trusted(_ROOT_NEEDS)), "--reuid", user, "--regid", user, *drop]


@functools.cache
def _trusted(name: str) -> str | None:
    return shutil.which(name, path="/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin")


@functools.cache
def _filter() -> bytes:
    return seccomp.program((seccomp.AF_UNIX, seccomp.AF_INET, seccomp.AF_INET6))


def _memory_file(data: bytes, held: list[int]) -> int:
    """A new descriptor, put into `held`, from which `data` can be read."""
    fd = os.open(f"/proc/self/fd/{_kept_in_memory(data)}", os.O_RDONLY | os.O_CLOEXEC)
    held.append(fd)
    return fd


@functools.cache
def _kept_in_memory(data: bytes) -> int:
    """A file in memory that holds `data` and is kept: every start of a run wants the same few."""
    fd = os.memfd_create("regreen")
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    return fd
