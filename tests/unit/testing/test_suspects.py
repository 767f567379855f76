"""What a run missed and the person has is a suspect, in their own words; what they have not, or everybody has, is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from regreen.testing.host import Host, env_value
from regreen.testing.lack import Missed, Suspect
from regreen.testing.report import Failure, Frame, Report, TestRecord
from regreen.testing.suspects import suspects_of
from unit.testing.small_projects import write_files

TEST = "test_x.py::test_a"
CONFIG = """
class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="SHOP_")
    url: str | None = None
    TOKEN_OF_SHOP: str | None = None
"""


@pytest.fixture
def host(tmp_path: Path) -> Host:
    files = {"test_x.py": "", "config.py": CONFIG, ".env": "token_of_shop='abc'\n"}
    tree = write_files(tmp_path / "tree", {name: text for name, text in files.items() if name != ".env"})
    environ = {
        "SHOP_URL": "http://shop.example",
        "SHOP_OTHER": "x",
        "PATH": "/bin",
        "CI": "1",
        "https_proxy": "p",
    }
    return Host(write_files(tmp_path / "work", files), tree, environ=environ)


def suspects(host: Host, *missed: Missed, failure: Failure | None = None) -> tuple[Suspect, ...]:
    failure = failure or Failure("AssertionError", "assert 1 == 2", frames=(Frame("test_x.py", 3, "test_a"),))
    report = Report(tests={TEST: TestRecord(TEST, "failed", failure=failure)})
    return suspects_of(report, replace(host, missed=missed))


def variable(name: str, how: str = "none") -> Missed:
    return Missed("variable", name, how, "config.py", 4)


@pytest.mark.parametrize("name", ["SHOP_MISSING", "CI", "https_proxy", "PATH", "LD_PRELOAD"])
def test_what_nobody_has_or_everybody_looks_at_is_no_suspect(host: Host, name: str) -> None:
    assert suspects(host, variable(name)) == ()


def test_a_library_that_takes_every_variable_is_suspected_of_the_fields_alone(host: Host) -> None:
    found = suspects(host, variable("*", "asked"))
    assert [one.missed.name for one in found] == ["SHOP_URL", "token_of_shop"]
    assert (
        suspects(replace(host, given=frozenset(("SHOP_URL", "token_of_shop"))), variable("*", "asked")) == ()
    )


def test_what_the_failure_speaks_of_and_what_the_test_expects_is_likelier(host: Host) -> None:
    failure = Failure(
        "AssertionError", "x", right="'http://shop.example'", frames=(Frame("config.py", 4, "f"),)
    )
    (url,) = suspects(host, variable("SHOP_URL"), failure=failure)
    assert (url.direct, url.expected) == (True, True)
    (other,) = suspects(host, variable("SHOP_OTHER"), failure=failure)
    assert (other.direct, other.expected) == (True, False)
    first = suspects(
        host, Missed("variable", "SHOP_OTHER", "none", "a.py", 1), variable("SHOP_URL"), failure=failure
    )
    assert [one.missed.name for one in first] == ["SHOP_URL", "SHOP_OTHER"]


def test_keys_are_never_offered_to_code_that_looks_for_them(host: Host) -> None:
    for name in (".ssh/id_rsa", ".aws/config", "notes.ini"):
        file = host.workspace / "people" / name
        write_files(host.workspace / "people", {name: "x"})
        found = suspects(host, Missed("file", str(file), "missing"))
        assert [one.lack.permission is not None for one in found] == ([True] if name == "notes.ini" else [])


@pytest.mark.parametrize(
    ("address", "needs"),
    [
        ("api.shop.example:443", "a network service (it connects to api.shop.example:443)"),
        ("api.shop.example:", "a network service (it looks for api.shop.example)"),
        ("127.0.0.1:1", ""),
        ("localhost:1", ""),
        ("/var/run/some.sock", ""),
        ("api (the person has agreed, press Allow):443", ""),
    ],
)
def test_a_server_outside_is_suspected_and_one_that_does_not_run_is_not(
    host: Host, address: str, needs: str
) -> None:
    found = suspects(host, Missed("address", address, "connect"))
    assert [one.lack.needs for one in found] == ([needs] if needs else [])
    assert suspects(replace(host, network=True), Missed("address", address, "connect")) == ()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("KEY=abc", "abc"),
        ("export KEY = abc # note", "abc"),
        ("KEY='a #b'", "a #b"),
        ('KEY="a \\"b\\" c" # note', 'a "b" c'),
        ("KEY=", ""),
        ("KEY=a#b", "a#b"),
        ("OTHER=1", None),
        ("# KEY=1", None),
        ("MY_KEY=1", None),
        ("KEY=first\nKEY=last", "last"),
    ],
)
def test_the_value_in_a_file_of_secrets_is_read_as_the_shell_would(
    tmp_path: Path, line: str, value: str | None
) -> None:
    (tmp_path / ".env").write_text(line + "\n", encoding="utf-8")
    assert env_value(tmp_path / ".env", "KEY") == value
    assert env_value(tmp_path / "nothing", "KEY") is None
