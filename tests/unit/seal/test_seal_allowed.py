"""What a person allows beyond the seal works, in every seal, and nothing else comes with it."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from regreen.cli import main, parser
from regreen.errors import RegreenError, UsageError
from regreen.testing.seal.allowed import Allowed, Widened, readable_path, variable_name
from regreen.testing.seal.choose import choose
from regreen.tools import menu
from unit.seal.places import Place

SEALED = pytest.mark.parametrize("place", ["bubblewrap", "landlock"], indirect=True)


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder outside the workspace that everybody may read."""
    folder = Path(tempfile.mkdtemp(prefix="regreen-readable-"))
    folder.chmod(0o755)
    (folder / "data.txt").write_text("fixture data")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def port() -> Iterator[int]:
    """A server of the host that says hello."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"hello")

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def widened(place: Place, allowed: Allowed) -> Place:
    return Place(Widened(place.seal, allowed), place.access)


@SEALED
async def test_a_readable_path_can_be_read_and_not_written(place: Place, outside: Path) -> None:
    code = (
        f"print(open({str(outside / 'data.txt')!r}).read())\n"
        f"for path in ({str(outside / 'data.txt')!r}, {str(outside / 'new')!r}):\n"
        "    try:\n        open(path, 'a').write('x'); print('WRITTEN')\n"
        "    except OSError as error:\n        print('refused')\n"
    )
    bare = await place.run(code)
    assert b"fixture data" not in bare.output
    ended = await widened(place, Allowed(readable=(outside,))).run(code)
    assert ended.output.split(b"\n")[:3] == [b"fixture data", b"refused", b"refused"]
    assert [file.name for file in outside.iterdir()] == ["data.txt"]
    one_file = await widened(place, Allowed(readable=(outside / "data.txt",))).run(code)
    assert one_file.output.startswith(b"fixture data")


@SEALED
async def test_the_network_opens_only_when_it_is_allowed(place: Place, port: int) -> None:
    code = (
        "import socket\n"
        f"try:\n    print(socket.create_connection(('127.0.0.1', {port}), 5).recv(5))\n"
        "except OSError as error:\n    print('refused', error)\n"
    )
    assert b"refused" in (await place.run(code)).output
    assert b"hello" in (await widened(place, Allowed(network=True)).run(code)).output


@SEALED
async def test_a_variable_is_seen_only_when_it_is_named(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_URL", "http://shop.example")
    monkeypatch.setenv("SHOP_TOKEN", "hidden")
    code = "import os\nprint(os.environ.get('SHOP_URL'), os.environ.get('SHOP_TOKEN'), os.environ.get('UNSET'))\n"
    assert (await place.run(code)).output.split() == [b"None", b"None", b"None"]
    allowed = Allowed(environment=("SHOP_URL", "UNSET"))
    assert (await widened(place, allowed).run(code)).output.split() == [
        b"http://shop.example",
        b"None",
        b"None",
    ]
    assert allowed.words() == (
        "see the environment variable SHOP_URL and see the environment variable UNSET (which is not set)"
    )


@pytest.mark.parametrize(
    "text",
    ["PATH", "HOME", "LD_PRELOAD", "PYTHONPATH", "PYTEST_ADDOPTS", "REGREEN_STATE_DIR", "A=b", "", "A-B"],
)
def test_a_variable_that_decides_what_is_run_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        variable_name(text)


def test_variables_are_named_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert parser().parse_args(["fix", "t.py", "--env", "A", "--env", "B"]).env == ["A", "B"]
    assert main(["fix", "t.py", "--env", "PATH"]) == 2
    assert "PATH decides how tests are run" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["bubblewrap"], indirect=True)
async def test_a_server_of_the_tests_own_works_without_any_setting(place: Place) -> None:
    code = (
        "import socket\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "client = socket.create_connection(server.getsockname())\n"
        "server.accept()[0].sendall(b'own server'); print(client.recv(20))\n"
    )
    assert b"own server" in (await place.run(code)).output


async def test_a_link_in_the_workspace_does_not_decide_what_is_read(place: Place, outside: Path) -> None:
    (place.access.workspace / "data").symlink_to(outside)
    allowed = Allowed(readable=(place.access.workspace / "data",))
    with pytest.raises(RegreenError, match="link that leads out"):
        await widened(place, allowed).run("print(1)")


async def test_the_seal_is_the_same_one_with_more_allowed() -> None:
    plain = await choose("prefer")
    more = await choose("prefer", Allowed(network=True))
    assert (more.seal.name, more.seal.mounts) == (plain.seal.name, plain.seal.mounts)
    assert isinstance(more.seal, Widened)
    assert (await choose("prefer", Allowed())).seal is plain.seal


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("no/such/place", "There is no"),
        ("/", "home folder"),
        ("~", "home folder"),
        ("~/..", "home folder"),
        ("/proc/self", "running system"),
        ("/dev/null", "running system"),
        ("/var/tmp", "running system"),
        ("pipe", "neither a file nor a folder"),
        ("link", "home folder"),
    ],
)
def test_a_path_that_would_open_everything_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, says: str
) -> None:
    home = tmp_path / "homes" / "me"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(home)
    with pytest.raises(UsageError, match=says) as refused:
        readable_path(path, tmp_path)
    assert "\n" not in str(refused.value)


def test_paths_are_taken_from_where_they_were_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "homes" / "data").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "homes"))
    assert readable_path("homes/../homes/data", tmp_path) == tmp_path / "homes" / "data"
    assert readable_path("~/data", Path("/usr")) == tmp_path / "homes" / "data"


@pytest.mark.parametrize("command", [["fix", "test_a.py"], ["ask", "do it"], ["tests"]])
def test_the_options_exist_wherever_tests_run(command: list[str]) -> None:
    options = parser().parse_args([*command, "--allow-network", "--readable", "/a", "--readable=b"])
    assert (options.allow_network, options.readable) == (True, ["/a", "b"])
    plain = parser().parse_args(command)
    assert (plain.allow_network, plain.readable) == (False, [])


def test_a_wrong_path_is_wrong_usage(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["tests", str(tmp_path), "--readable", str(tmp_path / "gone")]) == 2
    assert "There is no" in capsys.readouterr().err


def test_no_tool_of_the_model_has_an_argument_for_it() -> None:
    words = str([*menu.FIX, *menu.ASK]).lower()
    assert "edit_file" in words
    for word in ("network", "readable", "seal", "unlock", "approval", "timeout", "limit"):
        assert word not in words
