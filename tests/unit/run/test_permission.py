"""What a seal keeps from a test is told from a bug by trying it out, and given for one run when the person says so."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from regreen.agent.budget import Allowance, Budget
from regreen.agent.stops import AlreadyPassing, SetupProblem
from regreen.run.parts import Parts
from regreen.run.permission import ALLOW, NO, WITHOUT, FirstLook
from regreen.run.protocol import Event
from regreen.testing.judge import Judge
from regreen.testing.report import Report
from regreen.testing.seal.allowed import Widened
from regreen.testing.seal.unsealed import Unsealed
from regreen.testing.target import Target
from regreen.workspace.draft import Draft
from unit.testing.small_projects import Bench, write_files

TEST = "test_x.py::test_a"
HEAD = "import os\nimport random\nfrom pathlib import Path\nimport pytest\n"


@dataclass
class Person:
    """Answers every question in the same way."""

    answer: str
    asked: list[Event] = field(default_factory=lambda: list[Event]())

    async def ask(self, question: Event) -> str:
        self.asked.append(question)
        return self.answer


@dataclass
class Scene:
    """A first look at one small project, and what it said."""

    look: FirstLook
    workspace: Path
    events: list[Event]
    hidden: list[tuple[str, str]]


@contextlib.asynccontextmanager
async def scene(
    folder: Path, files: Mapping[str, str], person: Person | None = None
) -> AsyncGenerator[Scene]:
    bench = Bench(folder, files, seal=Widened.around(Unsealed()))
    target = Target.from_nodeid(TEST)
    judge = Judge(bench.runner, bench.trial, target)
    nothing = cast("Any", None)
    parts = Parts(contextlib.AsyncExitStack(), judge, bench.trial, bench.runner, nothing, nothing)
    events: list[Event] = []
    hidden: list[tuple[str, str]] = []

    def read(path: str) -> bytes:
        return (bench.workspace / path).read_bytes()

    look = FirstLook(
        target,
        parts,
        Draft(read),
        Budget(Allowance()).clock,
        events.append,
        person,
        lambda name, value: hidden.append((name, value)),
    )
    try:
        yield Scene(look, bench.workspace, events, hidden)
    finally:
        await bench.runner.aclose()
        bench.trial.close()


def project(code: str, test: str) -> dict[str, str]:
    body = "\n".join(f"    {line}" for line in test.split("\n"))
    return {"shop.py": HEAD + code + "\n", "test_x.py": f"{HEAD}\n\ndef test_a():\n    import shop\n{body}\n"}


MINE = {
    "SHOP_URL": "http://shop.example/api",
    "SHOP_PORT": "8123",
    "SHOP_REGION": "us-west-7",
    "SHOP_LEVEL": "info",
    "CI": "1",
    "LOG_LEVEL": "debug",
}


@pytest.fixture(autouse=True)
def mine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in MINE.items():
        monkeypatch.setenv(name, value)


OUTSIDE = {
    "None is used": project(
        "def url():\n    return os.getenv('SHOP_URL')", "assert shop.url().startswith('http')"
    ),
    "None is compared": project(
        "def url():\n    return os.environ.get('SHOP_URL')", "assert shop.url() == 'http://shop.example/api'"
    ),
    "None is converted": project(
        "def port():\n    return int(os.getenv('SHOP_PORT'))", "assert shop.port() == 8123"
    ),
    "None is concatenated while importing": project(
        "API = os.getenv('SHOP_URL') + '/v1'", "assert shop.API.endswith('/api/v1')"
    ),
    "a KeyError is caught": project(
        "def port():\n    try:\n        return os.environ['SHOP_PORT']\n    except KeyError:\n        return None",
        "assert int(shop.port()) == 8123",
    ),
    "the code goes another way": project(
        "def status():\n    return 200 if os.getenv('SHOP_URL') else 503", "assert shop.status() == 200"
    ),
    "it is only asked for": project(
        "def status():\n    return 200 if 'SHOP_URL' in os.environ else 503", "assert shop.status() == 200"
    ),
    "the test itself reads it": project("", "assert os.getenv('SHOP_URL') is not None"),
    "the test is skipped": project("", "if not os.getenv('SHOP_URL'):\n    pytest.skip('no shop')\nassert 1"),
    "the test is skipped by a mark": {
        "shop.py": "",
        "test_x.py": HEAD
        + "@pytest.mark.skipif('SHOP_URL' not in os.environ, reason='x')\ndef test_a():\n    pass\n",
    },
    "another value is expected than the default": project(
        "def region():\n    return os.getenv('SHOP_REGION', 'eu')", "assert shop.region() == 'us-west-7'"
    ),
    "one of two": project(
        "LEVEL = os.getenv('SHOP_LEVEL')\ndef url():\n    return os.getenv('SHOP_URL')",
        "assert shop.url().startswith('http')",
    ),
    "a fixture reads it": {
        "conftest.py": HEAD
        + "@pytest.fixture\ndef port():\n    return os.getenv('SHOP_PORT')\n",
        "test_x.py": "def test_a(port):\n    assert int(port) == 8123\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
async def test_a_variable_that_only_the_seal_takes_away_ends_the_run_with_the_option(
    tmp_path: Path, name: str
) -> None:
    async with scene(tmp_path, OUTSIDE[name]) as here:
        with pytest.raises(SetupProblem) as stop:
            await here.look.report()
    said = str(stop.value)
    assert "is yours, and kept out of runs: --env SHOP_" in said
    assert "LEVEL" not in said
    assert "\n" not in said


BUGS = {
    "it is read in passing": project(
        "def total(prices):\n    os.getenv('SHOP_URL')\n    return sum(prices[1:])", "assert shop.total([1, 2]) == 3"
    ),
    "None comes from somewhere else": project(
        "URL = os.getenv('SHOP_URL')\ndef total(prices):\n    sum(prices)", "assert shop.total([1, 2]) == 3"
    ),
    "a word of no meaning stops the code earlier": project(
        "def total(prices):\n    if os.getenv('SHOP_PORT'):\n        int(os.getenv('SHOP_PORT'))\n    sum(prices)",
        "assert shop.total([1, 2]) == 3",
    ),
    "a default is given": project(
        "def total(prices):\n    return int(os.getenv('SHOP_PORT', '2')) + sum(prices)", "assert shop.total([1, 2]) == 3"
    ),
    "any word sends the code past its default": project(
        "def rate():\n    return 3 if os.getenv('SHOP_LEVEL', 'low') != 'low' else 4", "assert shop.rate() == 3"
    ),
    "the failure is another each time": project(
        "def url():\n    return os.getenv('SHOP_URL')\ndef number():\n    return random.random()",
        "assert shop.number() == 'x', shop.url()",
    ),
    "it only changes which wrong answer comes": project(
        "def status():\n    return 403 if os.getenv('SHOP_URL') else 401", "assert shop.status() == 200"
    ),
    "everybody has it": project(
        "def total():\n    return os.getenv('CI') or os.getenv('LOG_LEVEL')", "assert shop.total() == 'x'"
    ),
    "the person has not got it": project(
        "def url():\n    return os.getenv('SHOP_OTHER')", "assert shop.url().startswith('http')"
    ),
    "the test takes it away": project(
        "def url():\n    return os.getenv('SHOP_URL').lower()",
        "from unittest import mock\nwith mock.patch.dict(os.environ, clear=True):\n    assert shop.url() == ''",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BUGS)
async def test_a_bug_in_code_that_happens_to_read_a_variable_is_left_to_the_code(
    tmp_path: Path, name: str
) -> None:
    person = Person(NO)
    async with scene(tmp_path, BUGS[name], person) as here:
        report = await here.look.report()
        hints = here.look.notes("stuck")
        assert [event["text"] for event in here.events] == hints
    assert report.failed == (TEST,)
    assert person.asked == []
    with_hint = ("stops the code", "a default", "its default", "another each", "which wrong answer")
    assert bool(hints) is any(part in name for part in with_hint), hints
    assert all(hint.startswith("It may be the seal: the environment variable SHOP_") for hint in hints)
    assert here.look.notes("fixed") == []


def last_run(workspace: Path, failed: Sequence[str]) -> None:
    write_files(
        workspace,
        {
            ".pytest_cache/v/cache/nodeids": json.dumps([TEST]),
            ".pytest_cache/v/cache/lastfailed": json.dumps(dict.fromkeys(failed, True)),
        },
    )


async def test_what_the_persons_last_run_saw_is_believed_as_long_as_nothing_changed(tmp_path: Path) -> None:
    files = BUGS["it only changes which wrong answer comes"]
    async with scene(tmp_path / "passed", files) as here:
        last_run(here.workspace, [])
        with pytest.raises(SetupProblem, match="--env SHOP_URL"):
            await here.look.report()
    async with scene(tmp_path / "failed", OUTSIDE["None is used"]) as here:
        last_run(here.workspace, [TEST])
        assert isinstance(await here.look.report(), Report)
        assert len(here.look.notes("stuck")) == 1
    async with scene(tmp_path / "changed", files) as here:
        last_run(here.workspace, [])
        shop = here.workspace / "shop.py"
        shop.write_text(shop.read_text(encoding="utf-8") + "# later\n", encoding="utf-8")
        when = (here.workspace / ".pytest_cache/v/cache/nodeids").stat().st_mtime
        import os

        os.utime(shop, (when + 5, when + 5))
        assert isinstance(await here.look.report(), Report)


FILES_LOOKED_FOR = {
    "on the failing line": ("", "assert Path('secrets.toml').exists()", True),
    "named by the failure": (
        "def key():\n    if not os.path.isfile('secrets.toml'):\n        raise RuntimeError('no secrets.toml here')",
        "assert shop.key()",
        True,
    ),
    "in passing": (
        "def total():\n    Path('secrets.toml').is_file()\n    return 1", "assert shop.total() == 2", False
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES_LOOKED_FOR)
async def test_a_file_that_the_copy_has_not_got(tmp_path: Path, name: str) -> None:
    code, test, at_once = FILES_LOOKED_FOR[name]
    files = {**project(code, test), "secrets.toml": "key = 1\n"}
    async with scene(tmp_path, files) as here:
        if at_once:
            with pytest.raises(SetupProblem, match=r"holds secrets .*--readable secrets.toml allows it"):
                await here.look.report()
        else:
            await here.look.report()
            assert "--readable secrets.toml" in here.look.notes("stuck")[0]


async def test_yes_gives_the_variable_to_this_run_alone_and_says_so(tmp_path: Path) -> None:
    person = Person(ALLOW)
    async with scene(tmp_path, OUTSIDE["None is used"], person) as here:
        with pytest.raises(AlreadyPassing) as stop:
            await here.look.report()
        notes = here.look.notes("already_passing")
    assert "once its tests may see the environment variable SHOP_URL" in str(stop.value)
    assert "--env SHOP_URL (in VS Code regreen.environment)" in str(stop.value)
    assert len(notes) == 1
    assert [question["text"] for question in person.asked] == [
        "This test seems to need the environment variable SHOP_URL, which sealed runs do not get. "
        "Allow it for this run?"
    ]
    assert (person.asked[0]["choices"], person.asked[0]["default"]) == ([ALLOW, WITHOUT, NO], NO)
    assert here.events == [
        {
            "event": "note",
            "level": "info",
            "text": "Tests may also see the environment variable SHOP_URL: you allowed it for this run.",
            "seal": "none",
            "allowed": "see the environment variable SHOP_URL",
        }
    ]


async def test_after_a_yes_the_bug_behind_it_is_looked_for(tmp_path: Path) -> None:
    files = project(
        "def urls():\n    return [os.environ['SHOP_URL'], os.environ['SHOP_PORT']]", "assert len(shop.urls()) == 3"
    )  # fmt: skip
    person = Person(ALLOW)
    async with scene(tmp_path, files, person) as here:
        report = await here.look.report()
    failure = report.tests[TEST].failure
    assert failure is not None
    assert failure.message.startswith("assert 2 == 3")
    assert [question["id"] for question in person.asked] == ["allow-1", "allow-2"]
    assert [question["choices"] for question in person.asked] == [[ALLOW, NO], [ALLOW, NO]]


async def test_without_it_the_run_goes_on_and_no_ends_it(tmp_path: Path) -> None:
    async with scene(tmp_path / "a", OUTSIDE["None is used"], Person(WITHOUT)) as here:
        report = await here.look.report()
        assert report.failed == (TEST,)
        assert "--env SHOP_URL" in here.look.notes("stuck")[0]
        assert here.events[-1]["text"] == "Not allowed for this run: see the environment variable SHOP_URL."
    async with scene(tmp_path / "b", OUTSIDE["None is used"], Person(NO)) as here:
        with pytest.raises(SetupProblem, match="--env SHOP_URL"):
            await here.look.report()


async def test_a_value_from_a_file_of_secrets_is_given_and_kept_out_of_records(tmp_path: Path) -> None:
    files = project("def token():\n    return os.environ['SHOP_TOKEN']", "assert shop.token() == 'a b#c'")
    files[".env"] = "# mine\nexport SHOP_TOKEN='a b#c' # note\n"
    person = Person(ALLOW)
    async with scene(tmp_path, files, person) as here:
        with pytest.raises(AlreadyPassing):
            await here.look.report()
    assert here.hidden == [("SHOP_TOKEN", "a b#c")]
    assert "the environment variable SHOP_TOKEN from .env" in str(person.asked[0]["text"])
    assert "a b#c" not in repr(here.events)


async def test_a_file_of_secrets_that_the_tests_read_themselves_is_given_whole(tmp_path: Path) -> None:
    code = (
        "def token():\n    if os.path.isfile('.env'):\n        line = Path('.env').read_text()\n"
        "        os.environ['SHOP_TOKEN'] = line.strip().split('=')[1]\n    return os.environ['SHOP_TOKEN']"
    )
    files = {**project(code, "assert shop.token() == 'abc'"), ".env": "SHOP_TOKEN=abc\n"}
    person = Person(ALLOW)
    async with scene(tmp_path, files, person) as here:
        with pytest.raises(AlreadyPassing):
            await here.look.report()
    assert "the file .env (it sets SHOP_TOKEN)" in str(person.asked[0]["text"])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("os.environ['PYTHONPATH_OF_MINE']", "cannot be let through"),
        ("open(os.path.expanduser('~/nothing-here'))", ""),
    ],
)
async def test_what_nobody_may_allow_is_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, why: str
) -> None:
    monkeypatch.setenv("PYTHONPATH_OF_MINE", "x")
    person = Person(ALLOW)
    async with scene(tmp_path, project(f"def a():\n    return {line}", "assert shop.a()"), person) as here:
        if why:
            with pytest.raises(SetupProblem, match=why):
                await here.look.report()
        else:
            await here.look.report()
    assert person.asked == []


async def test_nothing_in_the_workspace_answers_for_the_person(tmp_path: Path) -> None:
    files = {
        **OUTSIDE["None is used"],
        "pyproject.toml": "[tool.regreen]\nenv = ['SHOP_URL']\nallow-network = true\n",
        ".regreen.toml": "env = ['SHOP_URL']\n",
        ".vscode/settings.json": json.dumps({"regreen.environment": ["SHOP_URL"]}),
    }
    async with scene(tmp_path, files) as here:
        with pytest.raises(SetupProblem, match="--env SHOP_URL"):
            await here.look.report()
