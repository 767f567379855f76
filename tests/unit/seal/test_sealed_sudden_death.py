"""The process that runs the tests is itself killed with SIGKILL: what it started must go as well."""

# ruff: noqa: ASYNC220, ASYNC251

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from unit.seal.places import Place
from unit.seal.test_sealed_process import all_gone

OWNER = """
import asyncio, sys
from pathlib import Path
sys.path[:0] = {path!r}
from unit.seal.places import seals
from regreen.testing.seal.door import Access, Limits
async def main():
    base = Path({base!r})
    access = Access(base / "workspace", base / "tree", base / "scratch", Path(sys.executable))
    code = "import os, time; os.fork(); os.setsid(); os.fork(); print('up', flush=True); time.sleep(600)"
    if {wait}:
        running = await seals()[{name!r}].start([sys.executable, "-I", "-c", code, {mark!r}], access, Limits(wall=600))
        await asyncio.sleep(0.5)
        print("running", flush=True)
        await asyncio.sleep(600)
    print("starting", flush=True)
    await seals()[{name!r}].start([sys.executable, "-I", "-c", code, {mark!r}], access, Limits(wall=600))
    await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.parametrize("moment_ms", [None, 0, 3, 6, 12, 25])
async def test_no_process_outlives_its_owner(place: Place, moment_ms: int | None):
    mark = f"mark-{os.urandom(6).hex()}"
    code = OWNER.format(
        path=[path for path in sys.path if path],
        base=str(place.access.tree.parent),
        name=place.seal.name,
        mark=mark,
        wait=moment_ms is None,
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert owner.stdout is not None
    assert owner.stdout.readline()
    if moment_ms:
        time.sleep(moment_ms / 1000)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    assert await all_gone(mark) == []
