"""What code of the workspace looks for in vain is told by the probe; what libraries and pytest look for is not."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from regreen.testing import runner as running
from regreen.testing.host import Host
from regreen.testing.lack import Missed
from regreen.testing.report import Report
from unit.testing.small_projects import Bench

TEST = "test_x.py::test_a"


@contextmanager
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Missed]]:
    """What the probe told, before it is compared with anything."""
    told: list[Missed] = []

    def keep(report: Report, host: Host) -> tuple[()]:
        told.extend(host.missed or ())
        return ()

    with monkeypatch.context() as patch:
        patch.setattr(running, "suspects_of", keep)
        yield told


async def missed(folder: Path, files: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> list[Missed]:
    bench = Bench(folder, files)
    with listening(monkeypatch) as told:
        report = await bench.runner.run(bench.trial.prepare(), [TEST], trace_lines=True)
    await bench.runner.aclose()
    assert report.problem == ""
    assert report.failed, report.output
    return told


def failing(*lines: str, above: str = "") -> dict[str, str]:
    body = "\n".join(f"    {line}" for line in lines)
    return {
        "test_x.py": f"import os, pathlib\n{above}\n\ndef test_a(tmp_path, monkeypatch):\n{body}\n    assert 0\n"
    }


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("os.getenv('SHOP_URL')", "none"),
        ("os.environ.get('SHOP_URL')", "none"),
        ("os.environ.get('SHOP_URL', None)", "none"),
        ("os.getenv('SHOP_URL', 'http://here')", "default"),
        ("'SHOP_URL' in os.environ", "asked"),
        ("try: os.environ['SHOP_URL']\n    except KeyError: pass", "raised"),
        ("os.environb.get(b'SHOP_URL')", "none"),
        ("from os import environ; environ.get('SHOP_URL')", "none"),
        ("from os import getenv; getenv('SHOP_URL')", "none"),
        ("import threading; t = threading.Thread(target=lambda: os.getenv('SHOP_URL')); t.start(); t.join()", "none"),
    ],
)  # fmt: skip
async def test_a_variable_that_is_not_there_is_told_with_what_stood_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, how: str
) -> None:
    told = await missed(tmp_path, failing(line), monkeypatch)
    assert [(one.kind, one.name, one.how, one.path) for one in told] == [
        ("variable", "SHOP_URL", how, "test_x.py")
    ]
    assert told[0].line >= 5


@pytest.mark.parametrize(
    "lines",
    [
        ["monkeypatch.setenv('SHOP_URL', 'x')", "os.getenv('SHOP_URL')"],
        ["os.getenv('SHOP_URL')", "os.environ['SHOP_URL'] = 'x'"],
        ["os.environ.setdefault('SHOP_URL', 'x')"],
        ["os.environ.pop('SHOP_URL', None)", "os.getenv('SHOP_URL')"],
        ["monkeypatch.delenv('SHOP_URL', raising=False)", "os.getenv('SHOP_URL')"],
        ["from unittest import mock", "with mock.patch.dict(os.environ, {}, clear=True): os.getenv('SHOP_URL')"],
        ["monkeypatch.setattr(os, 'environ', {})", "os.getenv('SHOP_URL')"],
        ["os.getenv('PATH')", "os.environ.copy().get('SHOP_URL')"],
        ["import subprocess, sys", "subprocess.run([sys.executable, '-c', 'import os; os.getenv(\"SHOP_URL\")'], check=True)"],
        ["if os.fork() == 0:", "    os.getenv('SHOP_URL'); os._exit(0)"],
        ["import webbrowser, locale, urllib.request", "urllib.request.getproxies(); locale.getlocale()"],
    ],
    ids=lambda lines: lines[-1][:40],
)  # fmt: skip
async def test_a_test_that_says_itself_what_a_variable_is_misses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str]
) -> None:
    told = await missed(tmp_path, failing(*lines), monkeypatch)
    assert [one for one in told if one.kind == "variable"] == []


async def test_conftest_fixtures_and_imports_are_heard_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "shop/__init__.py": "import os\nURL = os.getenv('SHOP_URL')\n",
        "conftest.py": """
            import os
            import pytest
            KEY = os.getenv('SHOP_KEY')
            @pytest.fixture
            def place():
                return os.environ.get('SHOP_PLACE')
            """,
        "test_x.py": "import shop\n\ndef test_a(place):\n    assert shop.URL and place\n",
    }
    told = await missed(tmp_path, files, monkeypatch)
    assert {(one.name, one.path) for one in told} == {
        ("SHOP_URL", "shop/__init__.py"),
        ("SHOP_KEY", "conftest.py"),
        ("SHOP_PLACE", "conftest.py"),
    }


async def test_a_library_that_reads_settings_asks_for_whoever_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = (
        "import os\n\ndef config(name, default=None):\n    return os.environ.get(name, default)\n\n"
        "def every():\n    return {name.lower(): value for name, value in os.environ.items()}\n"
    )
    folder = tmp_path / "site-packages"
    for name in ("decouple", "pydantic_settings", "other"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(library, encoding="utf-8")
    files = failing(
        f"import sys; sys.path.insert(0, {str(folder)!r})",
        "import decouple, other, pydantic_settings",
        "decouple.config('SHOP_URL', default='x'), other.config('SHOP_KEY')",
        "assert 'path' in pydantic_settings.every() and other.every() and len(dict(os.environ)) == len(os.environ)",
    )
    told = await missed(tmp_path, files, monkeypatch)
    assert [(one.name, one.how, one.line) for one in told] == [
        ("SHOP_URL", "asked", 7),
        ("*", "asked", 8),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "os.path.exists('kept/rates.ini')",
        "os.path.isfile(b'kept/rates.ini')",
        "pathlib.Path('kept/rates.ini').exists()",
        "pathlib.Path('kept', 'rates.ini').resolve().is_file()",
        "try: open('kept/rates.ini')\n    except OSError: pass",
        "try: pathlib.Path('kept/rates.ini').read_text()\n    except OSError: pass",
        "import configparser; configparser.ConfigParser().read('kept/rates.ini')",
        "import glob; glob.glob('kept/rates.ini/*')",
        "list(os.walk('kept/rates.ini'))",
    ],
)
async def test_a_file_that_is_not_there_is_told_with_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    told = await missed(tmp_path, failing(line), monkeypatch)
    wanted = tmp_path / "trial/tree/kept/rates.ini"
    assert [(one.kind, Path(one.name), one.how) for one in told] == [("file", wanted, "missing")]


@pytest.mark.parametrize(
    "line",
    [
        "os.path.exists('test_x.py'), os.path.isdir('test_x.py'), pathlib.Path('.').is_file()",
        "open('new.txt', 'w').close(); open('new.txt').read()",
        "import shutil; shutil.which('nothing-of-that-name'); import mimetypes; mimetypes.init()",
        "try: import no_module_of_that_name\n    except ImportError: pass",
        "os.path.exists(0); os.path.exists('\\0')",
    ],
)
async def test_what_is_there_or_looked_for_by_libraries_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    assert await missed(tmp_path, failing(line), monkeypatch) == []


async def test_functions_that_were_put_around_others_still_behave_like_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = failing(
        "import copy, inspect, os.path",
        "from unittest import mock",
        "assert type(os.environ).__name__ == '_Environ' and dict(os.environ) == os.environ.copy()",
        "assert list(inspect.signature(pathlib.Path.exists).parameters)[0] == 'self'",
        "with mock.patch('os.path.exists', return_value=True): assert os.path.exists('/nowhere')",
        "with mock.patch.object(pathlib.Path, 'is_file', return_value=True): assert pathlib.Path('/nowhere').is_file()",
        "monkeypatch.setenv('SHOP_URL', 'x'); assert os.environb[b'SHOP_URL'] == b'x' == os.fsencode(os.getenv('SHOP_URL'))",
        "assert copy.deepcopy(os.environ)['SHOP_URL'] == 'x'",
        "del os.environ['SHOP_URL']; assert b'SHOP_URL' not in os.environb",
        "try: os.environ['SHOP_URL']",
        "except KeyError as error: assert error.args == ('SHOP_URL',) and error.__suppress_context__",
        "assert os.path.isdir(tmp_path) and tmp_path.is_dir() and not os.path.isfile(tmp_path)",
        "raise LookupError('all is well')",
    )
    bench = Bench(tmp_path, files)
    report = await bench.runner.run(bench.trial.prepare(), [TEST], trace_lines=True)
    failure = report.tests[TEST].failure
    assert failure is not None
    assert (failure.type, failure.message) == ("LookupError", "all is well"), failure.text


async def test_the_traceback_of_a_missing_variable_is_as_it_always_was(tmp_path: Path) -> None:
    bench = Bench(tmp_path, failing("os.environ['SHOP_URL']", "os.path.exists(None)"))
    report = await bench.runner.run(bench.trial.prepare(), [TEST], trace_lines=True)
    failure = report.tests[TEST].failure
    assert failure is not None
    assert "regreen_" not in failure.text
    bench = Bench(tmp_path / "b", failing("os.path.exists(None)"))
    report = await bench.runner.run(bench.trial.prepare(), [TEST], trace_lines=True)
    failure = report.tests[TEST].failure
    assert failure is not None
    assert failure.type == "TypeError"
    assert "regreen_" not in failure.text


async def test_servers_are_told_but_not_the_tests_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    files = failing(
        "import socket",
        "own = socket.create_server(('127.0.0.1', 0))",
        "socket.create_connection(own.getsockname()[:2]).close()",
        f"for place in (('127.0.0.1', {port}), ('api.shop.invalid', 443)):",
        "    try: socket.create_connection(place)",
        "    except OSError: pass",
    )
    told = await missed(tmp_path, files, monkeypatch)
    assert [(one.name, one.how) for one in told] == [
        (f"127.0.0.1:{port}", "connect"),
        ("api.shop.invalid:443", "name"),
    ]
