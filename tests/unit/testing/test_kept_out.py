"""What a seal keeps from a test is told from a bug by what the person's own side has, with the permission that helps."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from environments import person_python
from regreen.testing import kept_out as module
from regreen.testing.host import Host, person_saw
from regreen.testing.report import Failure, Frame
from regreen.testing.seal.allowed import Allowed, Widened
from regreen.testing.seal.choose import choose
from regreen.testing.seal.door import Seal
from regreen.workspace.trial import Trial
from unit.testing.small_projects import Bench, write_files

TEST = "test_x.py::test_a"


def kept_out(failure: Failure, nodeid: str, host: Host) -> str:
    lack = module.kept_out(failure, nodeid, host)
    return lack.text if lack else ""


@pytest.fixture
def host(tmp_path: Path) -> Host:
    workspace = write_files(
        tmp_path / "work", {"test_x.py": "", ".env": "export SHOP_TOKEN=x\n", "kept.txt": ""}
    )
    tree = write_files(tmp_path / "tree", {"test_x.py": "", "kept.txt": ""})
    return Host(workspace, tree, environ={"SHOP_URL": "x", "PATH": "/usr/bin"})


def environ_error(name: str) -> Failure:
    frame = Frame("shop.py", 3, "url", f'    return os.environ["{name}"]')
    return Failure("KeyError", f"'{name}'", frames=(frame,), text="E   KeyError")


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (environ_error("SHOP_URL"), "--env SHOP_URL (in VS Code regreen.environment) lets it through"),
        (environ_error("SHOP_TOKEN"), "is set in .env, which holds secrets"),
        (environ_error("SHOP_OTHER"), "SHOP_OTHER is not set"),
        (
            Failure(
                "KeyError", "'SHOP_URL'", text="<frozen os>:679: in __getitem__\n    raise KeyError(key)"
            ),
            "--env SHOP_URL",
        ),
        (
            Failure("ImproperlyConfigured", "The SHOP_URL setting must not be empty."),
            "--env SHOP_URL",
        ),
        (
            Failure(
                "ValidationError", "1 validation error for Settings\nshop_url\n  Field required [type=missing"
            ),
            "--env SHOP_URL",
        ),
        (
            Failure(
                "ImproperlyConfigured",
                "Requested setting DEBUG, but settings are not configured. You must either define the environment "
                "variable DJANGO_SETTINGS_MODULE or call settings.configure()",
            ),
            "is not set",
        ),
        (
            Failure(
                "UndefinedValueError", "SHOP_KEY not found. Declare it as envvar or define a default value."
            ),
            "SHOP_KEY",
        ),
        (Failure("ConnectionRefusedError", "[Errno 111] Connection refused"), "--allow-network"),
        (Failure("gaierror", "[Errno -3] Temporary failure in name resolution"), "--allow-network"),
        (
            Failure("ConnectError", "All connection attempts failed"),
            "needs a network service, which a sealed run cannot reach",
        ),
        (
            Failure(
                "OperationalError",
                'connection to server on socket "/var/run/postgresql/.s.PGSQL.5432" failed: No such file or directory\n'
                "could not connect to server",
            ),
            "--seal off",
        ),
        (Failure("FileNotFoundError", "[Errno 2] No such file or directory: '.env'"), "--readable .env"),
        (
            Failure("FileNotFoundError", "[Errno 2] No such file or directory: '/home/sealed/.aws/config'"),
            "looks for ~/.aws/config",
        ),
        (
            Failure("FileNotFoundError", "[Errno 2] No such file or directory: '/usr/bin/env'"),
            "--readable /usr/bin/env",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else value.type,
)
def test_the_matching_permission_is_named(host: Host, failure: Failure, says: str) -> None:
    said = kept_out(failure, TEST, host)
    assert says in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "failure",
    [
        Failure(
            "KeyError", "'SHOP_ULR'", text="monkeypatch.setenv('SHOP_URL', 'x')\n os.environ['SHOP_ULR']"
        ),
        Failure("KeyError", "'SHOP_URL'", frames=(Frame("a.py", 1, "f", "return prices['SHOP_URL']"),)),
        Failure("KeyError", "'total'", text="<frozen os>"),
        Failure("AssertionError", "assert 'Connection refused' == ''"),
        Failure("ConnectionRefusedError", "[Errno 111] Connection refused", text="server = HTTPServer(...)"),
        Failure("FileNotFoundError", "[Errno 2] No such file or directory: 'kept.txt'"),
        Failure("FileNotFoundError", "[Errno 2] No such file or directory: 'kpet.txt'"),
        Failure("FileNotFoundError", "[Errno 2] No such file or directory: '/nowhere/at/all'"),
        Failure("ValueError", "SHOP is not a price"),
        Failure("ValueError", "SHOP_URL is no number"),
        Failure("NameError", "name 'SHOP_URL' is not defined"),
        Failure("AttributeError", "module 'shop' has no attribute 'SHOP_URL', which is required"),
        Failure(
            "ValidationError", "1 validation error for Price\nshop_price\n  Field required [type=missing"
        ),
    ],
    ids=lambda failure: failure.message[:40],
)
def test_a_bug_is_left_to_the_code(host: Host, failure: Failure) -> None:
    assert kept_out(failure, TEST, host) == ""


def test_a_server_that_listens_here_is_known_without_connecting(host: Host) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        failure = Failure(
            "OperationalError", f'connection to server at "localhost", port {port} failed: Connection refused'
        )
        assert f"the server that listens on port {port} of this machine" in kept_out(failure, TEST, host)
    assert "listens on" not in kept_out(failure, TEST, host)


def test_with_the_network_allowed_the_service_itself_is_missing(host: Host) -> None:
    failure = Failure("ConnectionRefusedError", "[Errno 111] Connection refused")
    assert "does not answer" in kept_out(failure, TEST, replace(host, network=True))


def last_run(workspace: Path, nodeids: list[str], failed: list[str]) -> None:
    write_files(
        workspace,
        {
            ".pytest_cache/v/cache/nodeids": json.dumps(nodeids),
            ".pytest_cache/v/cache/lastfailed": json.dumps(dict.fromkeys(failed, True)),
        },
    )


def test_what_the_persons_own_run_saw_decides_where_the_failure_alone_does_not(host: Host) -> None:
    failure = Failure(
        "AssertionError", "assert 503 == 200", output="log:\nconnect: Connection refused by 10.0.0.1:80\n"
    )
    assert kept_out(failure, TEST, host) == ""
    last_run(host.workspace, [TEST], [TEST])
    assert person_saw(TEST, host) == "failed"
    assert kept_out(failure, TEST, host) == ""
    last_run(host.workspace, [TEST], [])
    assert person_saw(TEST, host) == "passed"
    said = kept_out(failure, TEST, host)
    assert "--allow-network" in said
    assert said.endswith("your own last pytest run passed the test")
    assert kept_out(Failure("AssertionError", "assert 1 == 2"), TEST, host) == ""
    later = time.time() + 60
    os.utime(host.workspace / "test_x.py", (later, later))
    assert person_saw(TEST, host) == ""


async def sealed(allowed: Allowed | None = None) -> Seal:
    seal = (await choose("prefer")).seal
    if seal.name == "none":
        pytest.skip("no seal on this machine")
    return Widened(seal, allowed) if allowed else seal


async def problem(
    folder: Path, files: Mapping[str, str], seal: Seal, readable: tuple[Path, ...] = ()
) -> tuple[str, bool]:
    bench = Bench(folder, files, python=Path(person_python()), seal=seal)
    bench.trial = Trial(bench.workspace, folder / "copy", memory=False, readable=readable)
    report = await bench.runner.run(bench.trial.prepare(), [TEST])
    await bench.runner.aclose()
    bench.trial.close()
    return report.problem, bool(report.passed)


async def test_a_package_behind_a_link_out_of_the_folder_is_offered_to_be_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    shared = write_files(tmp_path / "shared" / "money", {"__init__.py": "CENTS = 100\n"})
    for folder in (shared.parent, shared):
        folder.chmod(0o755)
    files = {"test_x.py": "from money import CENTS\n\ndef test_a():\n    assert CENTS == 100\n"}
    for allowed in (False, True):
        folder = tmp_path / f"run-{allowed}"
        write_files(folder / "project", files)
        (folder / "project" / "money").symlink_to(shared)
        readable = (shared,) if allowed else ()
        said, passed = await problem(
            folder, files, await sealed(Allowed(readable=readable) if allowed else None), readable
        )
        if allowed:
            assert (said, passed) == ("", True)
        else:
            assert f"money is a link to {shared.resolve()}, outside the workspace" in said
            assert f"--readable {shared.resolve()}" in said


async def test_a_secret_file_is_read_once_it_is_allowed(tmp_path: Path) -> None:
    files = {"test_x.py": "def test_a():\n    assert open('.env').read()\n", ".env": "A=1\n"}
    said, _ = await problem(tmp_path / "a", files, await sealed())
    assert "--readable .env allows it" in said
    file = tmp_path / "b" / "project" / ".env"
    write_files(tmp_path / "b" / "project", files)
    file.chmod(0o644)
    said, passed = await problem(tmp_path / "b", files, await sealed(Allowed(readable=(file,))), (file,))
    assert (said, passed) == ("", True)


async def test_a_conftest_that_misses_a_variable_is_no_broken_conftest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "conftest.py": "import os\nURL = os.environ['SHOP_URL']\n",
        "test_x.py": "def test_a():\n    assert 0\n",
    }
    monkeypatch.setenv("SHOP_URL", "there")
    said, _ = await problem(tmp_path / "a", files, await sealed())
    assert "--env SHOP_URL" in said
    said, _ = await problem(tmp_path / "b", files, await sealed(Allowed(environment=("SHOP_URL",))))
    assert said == ""
