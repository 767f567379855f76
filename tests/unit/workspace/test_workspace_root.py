"""Opening a workspace, reading in it, and what no path, link or file kind gets past."""

from __future__ import annotations

import os
import pwd
import socket
import stat
import sys
from pathlib import Path

import pytest

from regreen.errors import UsageError
from regreen.workspace import confine
from regreen.workspace.names import PathRefused
from regreen.workspace.root import Workspace, find_root, refused_as_workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX files")


@pytest.fixture(params=["openat2", "walk"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a secret in it and a workspace beside; with openat2 and without."""
    if request.param == "walk":

        def missing(folder: int, path: str, flags: int) -> int:
            raise OSError(38, "not there")

        monkeypatch.setattr(confine, "_openat2", missing)
    (tmp_path / "ws").mkdir()
    (tmp_path / "secret").write_bytes(b"hush")
    (tmp_path / "ws" / "cart.py").write_bytes(b"x = 1\n")
    return tmp_path


@pytest.fixture
def workspace(home: Path):
    opened = Workspace.open(home / "ws")
    yield opened
    opened.close()


def test_a_file_is_read_as_it_is(workspace: Workspace):
    assert workspace.read("cart.py") == b"x = 1\n"
    with pytest.raises(FileNotFoundError):
        workspace.read("no.py")
    with pytest.raises(FileNotFoundError):
        workspace.read("no/such.py")


@pytest.mark.parametrize("path", ["../secret", "a/../../secret"])
def test_outside_is_refused(workspace: Workspace, path: str):
    with pytest.raises(PathRefused, match="outside the workspace"):
        workspace.read(path)


def test_links_are_never_followed(workspace: Workspace, home: Path):
    ws = home / "ws"
    (ws / "relative").symlink_to("../secret")
    (ws / "absolute").symlink_to(home / "secret")
    (ws / "up").symlink_to("..")
    (ws / "dangling").symlink_to("../created")
    (ws / "inside").symlink_to("cart.py")
    (ws / "magic").symlink_to("/proc/self/root")
    (ws / "cwd").symlink_to("/proc/self/cwd")
    for path in ("relative", "absolute", "up/secret", "dangling", "inside", "magic/etc/passwd", "cwd/x"):
        with pytest.raises(PathRefused, match="links are not followed"):
            workspace.read(path)
    assert not (home / "created").exists()
    assert workspace.files() == ["cart.py"]


def test_a_second_name_of_an_outside_file_is_refused(workspace: Workspace, home: Path):
    os.link(home / "secret", home / "ws" / "hard")
    with pytest.raises(PathRefused, match="hard link"):
        workspace.read("hard")
    assert (home / "secret").read_bytes() == b"hush"


def test_what_is_no_plain_file_is_refused_at_once(workspace: Workspace, home: Path):
    ws = home / "ws"
    os.mkfifo(ws / "pipe")
    listening = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(ws)  # The path of a socket must be short.
    listening.bind("sock")
    os.chdir(here)
    (ws / "zero").symlink_to("/dev/zero")
    paths = ["pipe", "sock", "zero"]
    if os.geteuid() == 0:
        os.mknod(ws / "zero2", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        paths.append("zero2")
    for path in paths:
        with pytest.raises(PathRefused, match=r"not a regular file|links are not followed"):
            workspace.read(path)
    with pytest.raises(PathRefused, match=r"not a regular file|folder"):
        (ws / "folder").mkdir()
        workspace.read("folder")
    listening.close()


def test_a_file_that_is_too_large_is_refused_with_its_size(workspace: Workspace, home: Path):
    with (home / "ws" / "big").open("wb") as big:
        big.truncate(9 << 20)
    with pytest.raises(PathRefused, match=r"too large.*9437184"):
        workspace.read("big")
    assert len(workspace.read("big", limit=16 << 20)) == 9 << 20


def test_a_file_that_grows_while_it_is_read_is_refused(home: Path):
    read_end, write_end = os.pipe()
    os.close(write_end)
    path = home / "ws" / "grows"
    path.write_bytes(b"x" * 10)
    fd = os.open(path, os.O_RDONLY)
    try:
        path.write_bytes(b"x" * (3 << 20))
        with pytest.raises(PathRefused, match="too large"):
            confine.read_all(fd, "grows", 2 << 20)
    finally:
        os.close(fd)
        os.close(read_end)


def test_a_secret_is_not_read(workspace: Workspace, home: Path):
    (home / "ws" / ".env").write_bytes(b"TOKEN=1")
    with pytest.raises(PathRefused, match="secrets"):
        workspace.read(".env")


def test_a_replaced_folder_is_noticed(workspace: Workspace, home: Path):
    (home / "ws").rename(home / "old")
    with pytest.raises(PathRefused, match="gone or was moved"):
        workspace.read("cart.py")
    (home / "ws").mkdir()
    (home / "ws" / "cart.py").write_bytes(b"other\n")
    with pytest.raises(PathRefused, match="replaced"):
        workspace.read("cart.py")
    with pytest.raises(PathRefused, match="replaced"):
        workspace.files()


def test_files_lists_what_can_be_asked_for(workspace: Workspace, home: Path):
    ws = home / "ws"
    for name in (
        ".git",
        ".venv",
        "node_modules",
        "__pycache__",
        ".tox",
        "src/shop",
        "env-by-another-name",
        "tests",
    ):
        (ws / name).mkdir(parents=True)
        (ws / name / "file.py").write_bytes(b"")
    (ws / "env-by-another-name" / "pyvenv.cfg").write_bytes(b"")
    (ws / ".env").write_bytes(b"")
    (ws / "id_rsa").write_bytes(b"")
    (ws / "a:b").write_bytes(b"")
    os.close(os.open(os.fsencode(ws) + b"/\xff\xfe.py", os.O_CREAT))
    assert workspace.files() == ["cart.py", "src/shop/file.py", "tests/file.py"]
    assert workspace.files("src") == ["src/shop/file.py"]
    with pytest.raises(FileNotFoundError):
        workspace.files("nowhere")
    with pytest.raises(PathRefused):
        workspace.files("..")


def test_may_write_never_raises_for_a_path_of_a_model(workspace: Workspace):
    assert workspace.may_write("cart.py").permission == "allow"
    assert workspace.may_write("../x").permission == "refused"
    assert workspace.may_write("a\0b").permission == "refused"
    assert workspace.may_write("tests/test_x.py").permission == "locked"


def test_test_configuration_is_known_by_what_the_file_holds(workspace: Workspace, home: Path):
    assert workspace.may_write("pyproject.toml").permission == "ask"
    assert workspace.may_write("pyproject.toml", "[tool.pytest.ini_options]\n").permission == "locked"
    (home / "ws" / "pyproject.toml").write_bytes(b"[tool.pytest.ini_options]\n")
    assert workspace.may_write("pyproject.toml").permission == "locked"


def test_the_projects_own_test_names_are_locked(home: Path):
    (home / "ws" / "pytest.ini").write_bytes(b"[pytest]\npython_files = check_*.py\n")
    opened = Workspace.open(home / "ws")
    assert opened.may_write("src/check_cart.py").permission == "locked"
    opened.close()


def test_a_hidden_git_repository_is_not_written_into(workspace: Workspace, home: Path):
    bare = home / "ws" / "data"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
    (bare / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    assert workspace.may_write("data/config").permission == "refused"
    assert workspace.may_write("other/HEAD").permission == "refused"


@pytest.mark.parametrize("present", [("HEAD", "objects"), ("head", "OBJECTS"), ("HEAD", "refs")])
def test_a_hidden_git_repository_is_not_completed(workspace: Workspace, home: Path, present: tuple[str, ...]):
    bare = home / "ws" / "data"
    bare.mkdir()
    for name in present:
        (bare / name).mkdir()
    last = ({"head", "objects", "refs"} - {name.lower() for name in present}).pop()
    assert workspace.may_write(f"data/{last}/x").permission == "refused"
    assert workspace.may_write("data/cart.py").permission == "allow"


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta"])
def test_an_environment_of_any_name_is_not_written_into(workspace: Workspace, home: Path, mark: str):
    environment = home / "ws" / "my-env"
    (environment / "bin").mkdir(parents=True)
    (environment / mark).mkdir()
    for path in ("my-env/bin/activate", "my-env/bin/python", "my-env/x.py"):
        ruling = workspace.may_write(path)
        assert (ruling.permission, "virtual environment" in ruling.reason) == ("refused", True)


def test_an_environment_in_the_projects_root_leaves_the_project_writable(workspace: Workspace, home: Path):
    (home / "ws" / "pyvenv.cfg").touch()
    assert workspace.may_write("cart.py").permission == "allow"
    assert workspace.may_write("src/cart.py").permission == "allow"
    for path in ("bin/activate", "lib/python3.11/os.py", "Scripts/activate.bat"):
        assert workspace.may_write(path).permission == "refused", path


def fake_home(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    monkeypatch.setenv("HOME", str(folder))
    return folder


def test_folders_that_are_no_project_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    home = fake_home(monkeypatch, tmp_path / "people" / "ada")
    for name in (
        "Documents",
        "Desktop",
        "Downloads",
        "Bilder",
        ".ssh/x",
        ".config",
        "Documents/project",
        "code/shop",
    ):
        (home / name).mkdir(parents=True)
    (home / ".config" / "user-dirs.dirs").write_bytes(
        b'XDG_PICTURES_DIR="$HOME/Bilder"\nXDG_DESKTOP_DIR="$HOME/Desktop"\n'
    )
    refused = [
        home,
        home.parent,
        tmp_path,
        Path("/"),
        Path("/usr/lib"),
        Path("/etc"),
        Path("/tmp"),
        Path("/home"),
        Path("/root"),
    ]
    refused += [
        home / name for name in ("Documents", "Desktop", "Downloads", "Bilder", ".ssh", ".ssh/x", ".config")
    ]
    for folder in refused:
        with pytest.raises(UsageError, match="--workspace DIR"):
            Workspace.open(folder)
    for folder in (home / "Documents" / "project", home / "code" / "shop", home / "code"):
        assert refused_as_workspace(folder) == ""


def test_a_link_to_a_refused_folder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    home = fake_home(monkeypatch, tmp_path / "ada")
    home.mkdir()
    (tmp_path / "innocent").symlink_to(home)
    with pytest.raises(UsageError, match="home folder"):
        Workspace.open(tmp_path / "innocent")


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be opened"):
        Workspace.open(tmp_path / "nowhere")


def test_find_root_takes_the_outermost_project_file_below_git(tmp_path: Path):
    inner = tmp_path / "repo" / "packages" / "shop" / "tests"
    inner.mkdir(parents=True)
    test = inner / "test_x.py"
    test.write_bytes(b"")
    (tmp_path / "pyproject.toml").write_bytes(b"")  # above the repository: does not count
    (tmp_path / "repo" / ".git").mkdir()
    assert find_root(test) == tmp_path / "repo"
    (tmp_path / "repo" / "packages" / "shop" / "setup.py").write_bytes(b"")
    assert find_root(test) == tmp_path / "repo" / "packages" / "shop"
    (tmp_path / "repo" / "packages" / "tox.ini").write_bytes(b"")
    assert find_root(test) == tmp_path / "repo" / "packages"
    (tmp_path / "repo" / "pyproject.toml").write_bytes(b"")
    assert find_root(inner) == tmp_path / "repo"


def test_find_root_knows_a_worktree(tmp_path: Path):
    (tmp_path / "tree" / "src").mkdir(parents=True)
    (tmp_path / "tree" / ".git").write_bytes(b"gitdir: elsewhere\n")
    assert find_root(tmp_path / "tree" / "src") == tmp_path / "tree"


def test_find_root_without_git_takes_the_nearest_project_file_or_the_folder_itself(tmp_path: Path):
    tests = tmp_path / "shop" / "tests"
    tests.mkdir(parents=True)
    assert find_root(tests / "test_x.py") == tests
    (tmp_path / "pyproject.toml").write_bytes(b"")
    (tmp_path / "shop" / "pyproject.toml").write_bytes(b"")
    assert find_root(tests / "test_x.py") == tmp_path / "shop"


def test_find_root_passes_over_a_home_that_is_a_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    home = fake_home(monkeypatch, tmp_path / "ada")
    (home / "code" / "shop").mkdir(parents=True)
    (home / ".git").mkdir()
    (home / "pyproject.toml").write_bytes(b"")
    (home / "code" / "shop" / "pyproject.toml").write_bytes(b"")
    assert find_root(home / "code" / "shop" / "test_x.py") == home / "code" / "shop"


@pytest.mark.parametrize("git", [True, False], ids=["the home is a repository", "no git"])
def test_a_stray_project_file_in_or_above_the_home_widens_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, git: bool
):
    home = fake_home(monkeypatch, tmp_path / "people" / "ada")
    tests = home / "code" / "shop" / "tests"
    tests.mkdir(parents=True)
    if git:
        (home / ".git").mkdir()
    for above in (tmp_path, tmp_path / "people", home):
        (above / "pyproject.toml").write_bytes(b"")
        (above / "setup.cfg").write_bytes(b"")
    assert find_root(tests / "test_x.py") == tests
    (home / "code" / "tox.ini").write_bytes(b"")
    (home / "code" / "shop" / "pyproject.toml").write_bytes(b"")
    assert find_root(tests / "test_x.py") == home / "code" / "shop"


def test_homes_of_others_are_refused_and_stop_the_look_upwards(monkeypatch: pytest.MonkeyPatch):
    ada = pwd.struct_passwd(("ada", "x", 4242, 4242, "", "/home/ada", "/bin/sh"))
    monkeypatch.setattr(pwd, "getpwall", lambda: [ada])
    assert refused_as_workspace(Path("/home/ada")) == "it is a home folder"
    assert refused_as_workspace(Path("/home/project")) == ""
    assert refused_as_workspace(Path("/home/ada/shop")) == ""
