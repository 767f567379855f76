"""Parts of the seal that can be looked at without starting anything."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from regreen.errors import RegreenError
from regreen.testing.seal import seccomp
from regreen.testing.seal.door import Access, Limits
from regreen.testing.seal.environment import clean
from regreen.testing.seal.libraries import interpreter_paths, user_site
from regreen.testing.seal.output import Output

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths")


def interpreter(folder: Path, home: Path | None = None) -> Path:
    """A fake interpreter; with `home`, a virtual environment made from that one."""
    (folder / "bin").mkdir(parents=True)
    python = folder / "bin" / "python"
    if home is None:
        python.write_bytes(b"#!/bin/sh\nexit 99\n")
        python.chmod(0o755)
    else:
        python.symlink_to(home)
        (folder / "pyvenv.cfg").write_bytes(f"home = {home.parent}\nversion = 3.11\n".encode())
    return python


def test_an_environment_brings_its_base_along(tmp_path: Path):
    base = interpreter(tmp_path / "pyenv" / "3.11")
    python = interpreter(tmp_path / "project" / ".venv", base)
    found = interpreter_paths(python, tmp_path / "project", tmp_path / "nobody")
    assert found == (tmp_path / "project" / ".venv", tmp_path / "pyenv" / "3.11")


def test_an_environment_of_an_environment_brings_both(tmp_path: Path):
    base = interpreter(tmp_path / "pyenv" / "3.11")
    first = interpreter(tmp_path / "first", base)
    second = interpreter(tmp_path / "second", first)
    found = interpreter_paths(second, tmp_path / "project", tmp_path / "nobody")
    assert set(found) == {tmp_path / "second", tmp_path / "first", tmp_path / "pyenv" / "3.11"}


def test_the_home_folder_is_never_taken_whole(tmp_path: Path):
    python = interpreter(tmp_path / "home")
    (tmp_path / "home" / "lib").mkdir()
    (tmp_path / "home" / ".ssh").mkdir()
    found = interpreter_paths(python, tmp_path / "project", tmp_path / "home")
    assert found == (tmp_path / "home" / "bin", tmp_path / "home" / "lib")


def test_an_environment_in_the_projects_root_does_not_hide_the_trial(tmp_path: Path):
    base = interpreter(tmp_path / "pyenv")
    python = interpreter(tmp_path / "project", base)
    found = interpreter_paths(python, tmp_path / "project", tmp_path / "nobody")
    assert tmp_path / "project" not in found
    assert {tmp_path / "project" / "bin", tmp_path / "project" / "pyvenv.cfg"} <= set(found)


def test_an_environments_file_cannot_name_a_folder_without_an_interpreter(tmp_path: Path):
    python = interpreter(tmp_path / "project" / ".venv", interpreter(tmp_path / "pyenv"))
    secret = tmp_path / "nobody" / ".ssh"
    (secret / "x" / "python-notes").mkdir(parents=True)
    (secret / "python.txt").write_text("a file, but no program\n")
    tries = [
        secret,
        secret / "x",
        secret / "nothing",
        f"{tmp_path}/pyenv/../nobody/.ssh/x",
        "nobody/.ssh/x",
        "~",
        "\0",
    ]
    for home in tries:
        (tmp_path / "project" / ".venv" / "pyvenv.cfg").write_text(f"home = {home}\n")
        found = interpreter_paths(python, tmp_path / "project", tmp_path / "nobody")
        assert set(found) == {tmp_path / "project" / ".venv", tmp_path / "pyenv"}, home


def test_links_in_the_workspace_cannot_make_the_folders_around_it_a_prefix(tmp_path: Path):
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    project = home / "project"
    base = interpreter(tmp_path / "pyenv")
    interpreter(project / ".venv", base)
    (project / "up").symlink_to("..")
    (project / "python").symlink_to(base)
    (project / "bin").mkdir()
    (project / "bin" / "python").symlink_to(base)
    for around in (project / "up/project/python", project / "up/project/bin/python"):
        python = project / ".venv" / "bin" / "python"
        python.unlink()
        python.symlink_to(around)
        for written in (base.parent, around.parent, project / "up/project"):
            (project / ".venv" / "pyvenv.cfg").write_text(f"home = {written}\n")
            for path in interpreter_paths(python, project, home):
                assert not (home / ".ssh").is_relative_to(path.resolve()), (around, written, path)
                assert path.resolve() != project


def test_of_folders_that_hold_more_than_python_only_its_own_parts_are_taken(tmp_path: Path):
    home, base = tmp_path / "home", interpreter(tmp_path / "uv" / "cpython-3.12")
    for prefix, kept in (
        (home / ".local", "share/keyrings"),
        (tmp_path / "brew", "var/postgres"),
        (tmp_path / "other", ".git"),
    ):
        (prefix / kept).mkdir(parents=True)
        (prefix / "bin").mkdir()
        (prefix / "bin" / "python3").symlink_to(base)
        found = interpreter_paths(prefix / "bin" / "python3", tmp_path / "project", home)
        assert found == (prefix / "bin", tmp_path / "uv" / "cpython-3.12")


def test_a_system_interpreter_needs_nothing_more():
    if not Path("/usr/bin/python3").exists():
        pytest.skip("no system interpreter")
    assert interpreter_paths(Path("/usr/bin/python3"), Path("/work-on-something")) == ()


def test_no_interpreter_is_an_error_that_says_what_to_do(tmp_path: Path):
    with pytest.raises(RegreenError, match="--python"):
        interpreter_paths(tmp_path / "python", tmp_path)


def test_user_installed_libraries_are_found_but_not_for_an_environment(tmp_path: Path):
    site = tmp_path / "home" / ".local" / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    base = interpreter(tmp_path / "opt")
    assert user_site(base, tmp_path / "home") == (site.parent,)
    python = interpreter(tmp_path / "project" / ".venv", base)
    assert user_site(python, tmp_path / "home") == ()


def test_the_environment_is_an_allow_list(tmp_path: Path):
    given = {
        "LANG": "de_DE.UTF-8",
        "TZ": "UTC",
        "API_KEY": "x",
        "PATH": "/evil",
        "PYTHONPATH": "/evil",
        "HOME": "/h",
    }
    env = clean(Path("/opt/py/bin/python"), tmp_path / "home", tmp_path / "tmp", {"A": "1"}, given)
    assert env == {
        "LANG": "de_DE.UTF-8",
        "TZ": "UTC",
        "PATH": "/opt/py/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "A": "1",
    }


def test_output_keeps_head_and_tail_and_says_what_is_missing():
    output = Output(100, b"token")
    for number in range(100):
        output.feed(b"%09d\n" % number)
        if number == 0:
            assert not output.started
            output.feed(b"tok")
            output.feed(b"en\n")
            assert output.started
    assert output.cut
    # The launcher's own line from before the start is kept too.
    assert output.bytes() == (
        b"".join(b"%09d\n" % number for number in range(5))
        + b"\n[... 900 bytes left out ...]\n"
        + b"".join(b"%09d\n" % number for number in range(95, 100))
    )


@pytest.mark.parametrize("size", [99, 100])
def test_output_that_fits_is_whole(size: int):
    output = Output(100, b"token")
    output.feed(b"token\n" + bytes(range(size)))
    assert (output.bytes(), output.cut) == (bytes(range(size)), False)


def interpret(program: bytes, number: int, arguments: tuple[int, ...] = (), arch: int = 0xC000003E) -> int:
    """Run a seccomp filter as the kernel would, by the instructions it may use."""
    import struct

    code = list(struct.iter_unpack("<HBBI", program))
    data = struct.pack("<iIQ6Q", number, arch, 0, *(arguments + (0,) * 6)[:6])
    at, value = 0, 0
    while True:
        kind, yes, no, constant = code[at]
        at += 1
        if kind == 0x20:
            value = int.from_bytes(data[constant : constant + 4], "little")
        elif kind == 0x54:
            value &= constant
        elif kind == 0x06:
            return constant
        else:
            true = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[kind]
            at += yes if true else no


ALLOW, EPERM, EACCES, ENOSYS, KILL, NOTHING = 0x7FFF0000, 0x50001, 0x5000D, 0x50026, 0x80000000, 0x50000


@pytest.mark.parametrize(
    ("call", "arguments", "answer"),
    [
        (0, (), ALLOW),  # read
        (101, (), EPERM),  # ptrace
        (165, (), EPERM),  # mount
        (425, (), EPERM),  # io_uring_setup
        (435, (), ENOSYS),  # clone3
        (56, (0x01200011,), ALLOW),  # clone, as fork does it
        (56, (0x10000011,), EPERM),  # clone into a new user namespace
        (272, (), EPERM),  # unshare
        (16, (0, 0x5401), ALLOW),  # ioctl TCGETS
        (16, (0, 0x5412), EPERM),  # ioctl TIOCSTI
        (16, (0, 0xFFFF_0000_0000 | 0x5412), EPERM),  # the same, with bits the kernel ignores
        (41, (1,), ALLOW),  # socket AF_UNIX
        (41, (2,), ALLOW),  # socket AF_INET
        (41, (10,), ALLOW),  # socket AF_INET6
        (41, (16,), EACCES),  # socket AF_NETLINK
        (41, (38,), EACCES),  # socket AF_ALG
        (112, (), ALLOW),  # setsid
        (0x40000000 | 56, (), KILL),  # the x32 call table
    ],
)
def test_the_filter_answers(call: int, arguments: tuple[int, ...], answer: int):
    assert interpret(seccomp.program((1, 2, 10), machine="x86_64"), call, arguments) == answer


def test_the_filter_without_sockets_and_with_a_pinned_group():
    program = seccomp.program((), pin_group=True, machine="x86_64")
    assert interpret(program, 41, (1,)) == EACCES
    assert interpret(program, 53, (1,)) == ALLOW  # socketpair
    assert interpret(program, 112) == NOTHING
    assert interpret(program, 109) == NOTHING
    assert interpret(program, 39) == ALLOW


@pytest.mark.parametrize(
    ("machine", "arch", "calls"),
    [
        ("x86_64", 0xC000003E, {"shmat": 30, "setxattr": 188, "prlimit64": 302, "affinity": 203, "nice": 141, "pair": 53}),
        ("aarch64", 0xC00000B7, {"shmat": 196, "setxattr": 5, "prlimit64": 261, "affinity": 122, "nice": 140, "pair": 199}),
    ],
)  # fmt: skip
def test_the_filter_keeps_away_from_other_processes(machine: str, arch: int, calls: dict[str, int]):
    apart = seccomp.program((), pin_group=True, among_others=True, machine=machine)
    alone = seccomp.program((1, 2, 10), machine=machine)

    def answers(name: str, *arguments: int) -> tuple[int, int]:
        return interpret(apart, calls[name], arguments, arch), interpret(alone, calls[name], arguments, arch)

    for name in ("shmat", "setxattr"):
        assert answers(name) == (EPERM, ALLOW)
    for name in ("prlimit64", "affinity"):
        assert answers(name, 0, 7) == (ALLOW, ALLOW)
        assert answers(name, 4711, 7) == (EPERM, ALLOW)
    assert answers("nice", 0, 0, 1) == (ALLOW, ALLOW)
    assert answers("nice", 0, 4711, 1) == (EPERM, ALLOW)
    assert answers("nice", 2, 0, 1) == (EPERM, ALLOW)
    assert answers("pair", 1, 1 | 0o2000000) == (ALLOW, ALLOW)
    assert answers("pair", 1, 5 | 0o4000) == (ALLOW, ALLOW)
    assert answers("pair", 1, 2 | 0o2000000) == (EPERM, ALLOW)
    assert answers("pair", 30, 1) == (EPERM, ALLOW)


def test_the_filter_kills_calls_of_another_architecture():
    assert interpret(seccomp.program((1,), machine="x86_64"), 0, arch=0x40000003) == KILL
    assert interpret(seccomp.program((1,), machine="aarch64"), 117, arch=0xC00000B7) == EPERM
    assert interpret(seccomp.program((1,), machine="aarch64"), 220, (0x10000011,), arch=0xC00000B7) == EPERM
    assert interpret(seccomp.program((1,), machine="aarch64"), 63, arch=0xC00000B7) == ALLOW


@pytest.mark.skipif(sys.platform != "linux", reason="mounts of Linux")
def test_a_link_in_the_trial_is_never_a_place_to_mount_on(tmp_path: Path):
    from regreen.testing.seal import mounts

    workspace, tree, scratch, outside = (tmp_path / n for n in ("workspace", "tree", "scratch", "outside"))
    for folder in (workspace, tree, scratch, outside):
        folder.mkdir()
    python = interpreter(workspace / ".venv", interpreter(tmp_path / "base"))
    access = Access(workspace, tree, scratch, python)
    (tree / ".venv").symlink_to(outside)
    with pytest.raises(RegreenError, match="link"):
        mounts.plan(access, Limits(), Path("/home/sealed"), Path("/tmp"), sizes=True)
    assert list(outside.iterdir()) == []
    (tree / ".venv").unlink()
    planned = mounts.plan(access, Limits(), Path("/home/sealed"), Path("/tmp"), sizes=True)
    arguments = planned.arguments(lambda data: 0)
    trial_at = arguments.index(str(tree))
    venv_at = arguments.index(str(workspace / ".venv"))
    assert arguments[trial_at - 1 : trial_at + 2] == ["--bind", str(tree), str(workspace)]
    assert venv_at > trial_at
    assert arguments[venv_at - 1] == "--ro-bind"
    assert (tree / ".venv").is_dir()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root gives the trial away")
def test_the_trial_is_handed_over_without_following_links(tmp_path: Path):
    from regreen.testing.seal.privileges import hand_over, nobody

    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "file").write_bytes(b"x")
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    (tree / "deep" / "own").write_bytes(b"x")
    (tree / "link").symlink_to(outside / "file")
    (tree / "folder-link").symlink_to(outside)
    os.link(outside / "file", tree / "hard")
    hand_over(tree, nobody())
    assert (tree / "deep" / "own").stat().st_uid == nobody()
    assert tree.stat().st_uid == nobody()
    assert (outside / "file").stat().st_uid == 0
    assert outside.stat().st_uid == 0


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_everything_can_be_imported_elsewhere(platform: str):
    """A process in which the modules of POSIX and Linux are missing, as far as that can be played."""
    import subprocess

    missing = ["fcntl", "resource", "pwd", "grp", "termios"] if platform == "win32" else []
    code = (
        f"import sys\nsys.path[:0] = {[path for path in sys.path if path]!r}\n"
        "import asyncio, subprocess, tempfile, pathlib, ctypes, shutil, json\n"
        f"for name in {missing!r}: sys.modules[name] = None\n"
        f"sys.platform = {platform!r}\n"
        "import os\n"
        "for name in ('O_DIRECTORY', 'O_NOFOLLOW', 'O_NONBLOCK', 'O_CLOEXEC', 'geteuid', 'pidfd_open', 'memfd_create'):\n"
        "    if hasattr(os, name): delattr(os, name)\n"
        "from regreen.testing.seal import choose, door, environment, libraries, output, seccomp, process, privileges\n"
        "from regreen.testing.seal import launching, unsealed, landlock, bubblewrap, macos, mounts\n"
        "from regreen.workspace import names, policy, text, confine, root, journal, writer, recovery\n"
        "print(asyncio.run(choose.choose('prefer')).seal.name)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stdout.strip() == "none", ended.stderr
