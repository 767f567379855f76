"""Which seal is chosen, what is said when none works, and that nothing of the workspace decides it."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from regreen.errors import RegreenError
from regreen.testing.seal import bubblewrap, choose, landlock

linux = pytest.mark.skipif(sys.platform != "linux", reason="seals of Linux")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(choose, "_chosen", {})


@linux
async def test_the_strongest_that_really_starts_is_chosen_and_remembered(monkeypatch: pytest.MonkeyPatch):
    first = await choose.choose("require")
    assert first.seal.name in ("bubblewrap", "landlock")
    assert 0 < first.seconds < 10

    def not_again() -> list[object]:
        raise AssertionError("probed twice")

    monkeypatch.setattr(choose, "_candidates", not_again)
    assert await choose.choose("prefer") is first


@linux
async def test_without_bubblewrap_landlock_is_used_and_the_reason_is_kept(monkeypatch: pytest.MonkeyPatch):
    if landlock.usable():
        pytest.skip(landlock.usable())
    monkeypatch.setattr(bubblewrap, "PLACES", ("/no/such/bwrap",))
    choice = await choose.choose("require")
    assert choice.seal.name == "landlock"
    assert not choice.seal.mounts
    assert "bubblewrap is not installed" in choice.why
    assert "bubblewrap is not installed" in choose.describe(choice)


@linux
async def test_when_nothing_works_require_is_refused_with_what_to_do_and_prefer_says_so(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(bubblewrap, "PLACES", ())
    monkeypatch.setattr(landlock, "usable", lambda: "this kernel has no Landlock")
    with pytest.raises(RegreenError) as refused:
        await choose.choose("require")
    message = str(refused.value)
    assert "this kernel has no Landlock" in message
    assert "apt install bubblewrap" in message
    assert "--seal off" in message
    assert "\n" not in message
    choice = await choose.choose("prefer")
    assert choice.seal.name == "none"
    assert choose.describe(choice).startswith("NOT sealed")


async def test_off_starts_no_probe(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(choose, "_candidates", lambda: pytest.fail("probed"))
    assert (await choose.choose("off")).seal.name == "none"


@linux
async def test_a_seal_that_starts_but_does_not_work_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    if os.geteuid() != 0:
        pytest.skip("needs a program owned by root")
    broken = tmp_path / "bwrap"
    options = " ".join(bubblewrap._NEEDED)  # pyright: ignore[reportPrivateUsage]
    broken.write_bytes(f'#!/bin/sh\n[ "$1" = --help ] && echo {options}\necho boom >&2; exit 1\n'.encode())
    broken.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "PLACES", (str(broken),))
    choice = await choose.choose("prefer")
    assert choice.seal.name != "bubblewrap"
    assert "boom" in choice.why


@linux
@pytest.mark.parametrize(
    ("mode", "owner", "reason"),
    [(0o4755, 0, "setuid"), (0o777, 0, "other users"), (0o755, 12345, "other users")],
)
def test_a_bubblewrap_that_cannot_be_trusted_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: int, owner: int, reason: str
):
    if os.geteuid() != 0:
        pytest.skip("only root can make such files")
    program = tmp_path / "bwrap"
    program.write_bytes(b"#!/bin/sh\n")
    os.chown(program, owner, 0)
    program.chmod(mode)
    assert stat.S_IMODE(program.stat().st_mode) == mode
    monkeypatch.setattr(bubblewrap, "PLACES", (str(program),))
    found, why = bubblewrap.find()
    assert found is None
    assert reason in why


@linux
async def test_path_is_never_searched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    trap = tmp_path / "bwrap"
    trap.write_bytes(f"#!/bin/sh\ntouch {tmp_path}/sprung\n".encode())
    trap.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:.:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    await choose.choose("prefer")
    assert not (tmp_path / "sprung").exists()
