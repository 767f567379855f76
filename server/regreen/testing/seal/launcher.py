"""Starts one command, confined by Landlock and seccomp or not at all, and ends with everything it started.

Run as a file of its own, `python -I -S launcher.py CONFIG COMMAND...`, with a pipe as standard input: "go\\n" lets
the command start, the end of the pipe (we died, or want it to end) kills it. So this file imports nothing of
Regreen. CONFIG is JSON: see `landlock.config`. The process stays as the watcher; the command is its child:

- confined: seccomp has made setsid and setpgid do nothing, so the watcher's own process group holds every
  descendant, and the watcher ends itself and all of them by one signal to the group;
- not confined: on Linux, orphans become children of the watcher, which kills until none is left; elsewhere, only
  the group is killed.

Fails closed: whatever goes wrong before the command starts ends in exit code 126 and a message. Numbers are from
Linux `include/uapi/linux/{landlock,prctl,capability}.h`.
"""

# ruff: noqa: PTH208, SIM105

from __future__ import annotations

import ctypes
import errno
import json
import os
import select
import signal
import stat
import struct
import sys
import time

TYPE_CHECKING = False  # `typing` takes longer to import than everything else here together.
if TYPE_CHECKING:
    from typing import Any

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
FOR_READING = EXECUTE | READ_FILE | READ_DIR
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
PR_SET_PDEATHSIG, PR_SET_KEEPCAPS, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 8, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2
_CAPSET = {"x86_64": 126, "aarch64": 91}

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _syscall(number: int, *arguments: object) -> int:
    return int(_libc.syscall(ctypes.c_long(number), *arguments))


def landlock_version() -> int:
    """The Landlock ABI of this kernel, 0 when it has none or it is turned off."""
    found = _syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(found, 0)


def file_rights(version: int) -> int:
    """Every file right that Landlock of this version can take away."""
    return (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1


def ruleset(writable: list[str], readable: list[str], version: int) -> int:
    """A ruleset descriptor that allows just these paths. Missing paths are left out; other errors are raised."""
    handled = file_rights(version)
    attributes = struct.pack("<Q", handled)
    if (
        version >= 6
    ):  # No TCP rules (sockets are filtered by family); no signals or abstract sockets to others.
        attributes += struct.pack("<QQ", 0, 3)
    fd = _check(
        _syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)), "ruleset"
    )
    for paths, rights in ((readable, FOR_READING), (writable, handled & ~IOCTL_DEV)):
        for path in paths:
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            allowed = rights & handled
            if not stat.S_ISDIR(os.fstat(place).st_mode):
                allowed &= FOR_FILES
            rule = struct.pack("<Qi", allowed, place)
            _check(
                _syscall(ADD_RULE, ctypes.c_int(fd), ctypes.c_int(1), rule, ctypes.c_uint32(0)),
                f"rule {path}",
            )
            os.close(place)
    return fd


def step_down(user: int, search: bool) -> None:
    """From root to `user` for good, without capabilities. With `search` one is kept that lets closed folders on
    the way to an allowed path be passed; which files can be read is up to Landlock."""
    kept = 0
    wanted = [DAC_READ_SEARCH, DAC_OVERRIDE] if search else []
    for capability in wanted:
        if _libc.prctl(23, capability, 0, 0, 0) == 1:  # PR_CAPBSET_READ
            kept = 1 << capability
            break
    for capability in range(64):
        if not kept >> capability & 1 and _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0:
            if ctypes.get_errno() == errno.EINVAL:
                break
            raise OSError(ctypes.get_errno(), "capability bounding set")
    _check(_libc.prctl(PR_SET_KEEPCAPS, 1 if kept else 0, 0, 0, 0), "keep capabilities")
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    number = _CAPSET[os.uname().machine]
    header = struct.pack("<Ii", 0x20080522, 0)
    _check(_syscall(number, header, struct.pack("<IIIIII", kept, kept, kept, 0, 0, 0)), "capabilities")
    if kept:
        capability = kept.bit_length() - 1
        _check(_libc.prctl(PR_CAP_AMBIENT, 2, capability, 0, 0), "ambient capability")


def filter_calls(program: bytes) -> None:
    """Install a seccomp filter for this process and all it starts."""
    buffer = ctypes.create_string_buffer(program, len(program))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]

    described = Program(len(program) // 8, ctypes.addressof(buffer))
    _check(_libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(2), ctypes.byref(described), 0, 0), "seccomp")


def limit(limits: dict[str, int]) -> None:
    """Set kernel limits, as far down as the ones we have."""
    import resource

    for name, value in limits.items():
        kind = getattr(resource, "RLIMIT_" + name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            try:
                resource.setrlimit(kind, (value, value))
            except (OSError, ValueError):
                if sys.platform == "linux":  # macOS refuses some that Linux has.
                    raise


def become(config: dict[str, Any], command: list[str], watcher: int) -> None:
    """In the child: confine this process and turn it into the command. Returns only by an exception."""
    os.chdir(config["cwd"])
    rules = -1
    if config["confine"]:
        version = landlock_version()
        if version < config["landlock"]:
            raise OSError(errno.ENOSYS, f"Landlock version {version}, needed {config['landlock']}")
        rules = ruleset(config["writable"], config["readable"], version)
    user = config["user"]
    limit(config["limits"])
    if user is not None:
        step_down(user, config["search"])
    if sys.platform == "linux":
        _check(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "parent death signal")
    if os.getppid() != watcher:
        os._exit(125)
    if config["confine"]:
        _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
        _check(_syscall(RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0)), "restrict")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    close_all_but(config["keep"])
    if config["confine"]:
        filter_calls(bytes.fromhex(config["seccomp"]))
    os.write(1, config["token"].encode() + b"\n")
    os.execvp(command[0], command)


def close_all_but(kept: list[int]) -> None:
    """Close every descriptor above 2 except these."""
    low = 3
    for fd in sorted(kept):
        os.closerange(low, fd)
        low = fd + 1
    os.closerange(low, 65536)


def children_of(root: int) -> list[int]:
    """All descendants of `root` that /proc shows, by parent ids."""
    below: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    text = file.read()
                below.setdefault(int(text[text.rindex(b")") + 2 :].split()[1]), []).append(int(name))
            except (OSError, ValueError, IndexError):
                pass
    found: list[int] = []
    todo = [root]
    while todo:
        for pid in below.get(todo.pop(), []):
            found.append(pid)
            todo.append(pid)
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass  # Gone meanwhile, or changed to another user.


def sweep() -> None:
    """Kill every descendant until there is none: orphans are handed to this process, so none can hide. A
    program that forks faster than this kills wins; only a seal stops that."""
    end = time.monotonic() + 0.8
    while time.monotonic() < end:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for pid in children_of(os.getpid()):
            _kill(pid)
        time.sleep(0.002)


def watch(child: int, config: dict[str, Any]) -> None:
    """Wait for the command's end or for the end of our standard input, then end everything, ourselves too."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    code = None
    while code is None:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            code = os.waitstatus_to_exitcode(status)
            break
        ready = select.select([0, reader], [], [])[0]
        if reader in ready:
            os.read(reader, 4096)
            while not config["confine"]:
                # Reap orphans while we wait; the command itself is reaped above.
                try:
                    waiting = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                    if waiting is None or waiting.si_pid == child:
                        break
                    os.waitpid(waiting.si_pid, os.WNOHANG)
                except (ChildProcessError, AttributeError):
                    break
        if 0 in ready and not os.read(0, 16):
            break
    if code is not None:
        os.write(config["status"], b"%d\n" % code)
    if not config["confine"] and sys.platform == "linux":
        sweep()
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    config = json.loads(sys.argv[1])
    if os.read(0, 3) != b"go\n":
        os._exit(125)
    if sys.platform == "linux":
        _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    watcher = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            become(config, sys.argv[2:], watcher)
        except BaseException as error:
            os.write(1, f"{error}\n".encode("utf-8", "replace"))
        os._exit(126)
    watch(child, config)


if __name__ == "__main__":
    main()
