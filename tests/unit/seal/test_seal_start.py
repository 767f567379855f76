"""What a start in the strong seal sets up, and what it remembers from the start before."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from regreen.errors import RegreenError
from regreen.testing.seal import mounts
from regreen.testing.seal.door import Access, Limits
from regreen.testing.seal.privileges import give, nobody
from unit.seal.places import Place
from unit.seal.test_seal_parts import interpreter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the seals of Linux")

SHOW_LIMITS = (
    "import resource as r\n"
    "print([r.getrlimit(kind) for kind in (r.RLIMIT_CORE, r.RLIMIT_NOFILE, r.RLIMIT_FSIZE, r.RLIMIT_DATA)])\n"
    "print(r.getrlimit(r.RLIMIT_NPROC)[0] >= 33)"
)


def planned(access: Access) -> list[str]:
    plan = mounts.plan(access, Limits(), Path("/home/sealed"), Path("/tmp"), sizes=True)
    return plan.arguments(lambda data: 0)


@pytest.fixture
def access(tmp_path: Path) -> Access:
    for name in ("workspace", "tree", "scratch"):
        (tmp_path / name).mkdir()
    python = interpreter(tmp_path / "env", interpreter(tmp_path / "base"))
    return Access(tmp_path / "workspace", tmp_path / "tree", tmp_path / "scratch", python)


async def test_limits_hold_for_the_command(place: Place):
    limits = Limits(wall=20, memory=1 << 30, processes=33, file_size=5 << 20)
    ended = await place.run(SHOW_LIMITS, limits)
    shown = [(1, 1), (4096, 4096), (5 << 20, 5 << 20), (1 << 30, 1 << 30)]
    assert ended.output.decode().split("\n")[:2] == [repr(shown), "True"], ended


@pytest.mark.parametrize("place", ["bubblewrap"], indirect=True)  # other launchers set limits inside
async def test_limits_that_cannot_be_set_end_the_start(place: Place, monkeypatch: pytest.MonkeyPatch):
    import resource

    def refuse(*arguments: object) -> tuple[int, int]:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(resource, "prlimit", refuse)
    with pytest.raises(RegreenError, match="limits"):
        await place.run("open('made', 'w')")
    assert not (place.access.tree / "made").exists()


def test_a_new_environment_at_the_same_place_is_looked_at_again(access: Access, tmp_path: Path):
    assert str(tmp_path / "base") in planned(access)
    other = interpreter(tmp_path / "other")
    access.python.unlink()
    access.python.symlink_to(other)
    (tmp_path / "env" / "pyvenv.cfg").write_bytes(f"home = {other.parent}\n# new\n".encode())
    assert str(tmp_path / "other") in planned(access)
    assert str(tmp_path / "base") not in planned(access)
    access.python.unlink()
    with pytest.raises(RegreenError, match="--python"):
        planned(access)


def test_the_trials_own_copy_of_a_readable_path_counts_from_the_moment_it_is_there(access: Access):
    data = access.workspace / "data"
    data.mkdir()
    wider = replace(access, readable=(data,))
    assert str(data) in planned(wider)
    (access.tree / "data" / "x").mkdir(parents=True)
    assert str(data) not in planned(wider)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root gives the trial away")
def test_a_trial_is_given_away_once_and_reports_every_time(tmp_path: Path):
    tree, scratch = tmp_path / "tree", tmp_path / "scratch"
    (tree / "deep").mkdir(parents=True)
    scratch.mkdir()
    (tree / "deep" / "file").touch()
    give(tree, scratch)
    assert {path.stat().st_uid for path in (tree, tree / "deep", tree / "deep" / "file", scratch)} == {
        nobody()
    }
    (tree / "later").touch()
    (scratch / "later").touch()
    give(tree, scratch)
    assert (tree / "later").stat().st_uid == 0
    assert (scratch / "later").stat().st_uid == nobody()


@pytest.mark.parametrize(
    "place", ["bubblewrap"], indirect=True
)  # only a seal that mounts puts it in its place
async def test_a_file_left_out_of_the_trial_can_be_allowed_by_name(place: Place):
    secret = place.access.workspace / "conf" / ".env"
    secret.parent.mkdir()
    secret.write_bytes(b"TOKEN=1\n")
    secret.chmod(0o644)
    (place.access.tree / "conf").mkdir()
    code = "print(open('conf/.env').read()); open('conf/.env', 'a')"
    ended = await place.run(code)
    assert b"FileNotFoundError" in ended.output
    wider = Place(place.seal, replace(place.access, readable=(secret,)))
    ended = await wider.run(code)
    assert b"TOKEN=1" in ended.output
    assert b"Read-only file system" in ended.output or b"Permission denied" in ended.output
    assert secret.read_bytes() == b"TOKEN=1\n"
