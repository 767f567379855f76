"""The warm pytest of a runner: started once under the seal, one fork for each run. Linux only; else runs are cold."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from regreen.errors import RegreenError
from regreen.testing.seal.door import Access, Finished, Limits, Running, Seal
from regreen.testing.seal.privileges import hand_over, is_root, nobody

_START_SECONDS = 30.0
_LIFE_SECONDS = 6 * 3600.0
_TICK = 0.25
_OUTPUT_FACTOR = 8


class WarmPytest:
    """A sealed process with pytest imported. Runs wait for each other; a run that must be stopped takes it along.

    `staged` tells of the last run whether all that comes before the collection was there already.
    """

    def __init__(self, running: Running, tree: Path, to_child: int, from_child: int) -> None:
        self.tree = tree
        self.alive = True
        self.staged = False
        self._running = running
        self._to_child = to_child
        self._from_child = from_child
        self._lock = asyncio.Lock()
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._rest = b""
        asyncio.get_running_loop().add_reader(from_child, self._read)

    @classmethod
    async def start(
        cls, seal: Seal, access: Access, limits: Limits, script: Path, env: Mapping[str, str]
    ) -> WarmPytest | None:
        """Start one; None where that does not work, for whatever reason: then runs are simply cold."""
        if sys.platform != "linux":
            return None
        inside, to_child = os.pipe()
        from_child, outside = os.pipe()
        os.set_blocking(from_child, False)
        argv = [str(access.python), str(script), str(inside), str(outside), str(access.workspace)]
        try:
            running = await seal.start(
                argv, access, replace(limits, wall=_LIFE_SECONDS), env, (inside, outside)
            )
        except BaseException as error:
            os.close(to_child)
            os.close(from_child)
            if isinstance(error, RegreenError | OSError):
                return None
            raise
        finally:
            os.close(inside)
            os.close(outside)
        warm = cls(running, access.tree, to_child, from_child)
        try:
            ready = await warm._line(_START_SECONDS)
        except BaseException:
            await asyncio.shield(warm.close())
            raise
        if b"ready" not in ready:
            await warm.close()
            return None
        return warm

    async def run(self, folder: Path, shape: str, limits: Limits) -> Finished | None:
        """Run the job in `folder`; None when the process has gone and the run must be made cold.

        Jobs of the same `shape` differ in their folder and key alone; then what comes before the collection is shared.
        """
        async with self._lock:
            if not self.alive:
                return None
            if is_root():
                hand_over(folder, nobody())
            begun = time.monotonic()
            try:
                os.write(self._to_child, f"{shape} {folder / 'job.json'}\n".encode())
                answer = await self._answer(folder, limits)
                if isinstance(answer, str):
                    await self.close()
            except OSError:
                await self.close()
                return None
            except BaseException:
                await asyncio.shield(self.close())
                raise
            return self._finished(answer, folder, limits, time.monotonic() - begun)

    async def close(self) -> None:
        """End the process with all that it started."""
        if not self.alive:
            return
        self.alive = False
        asyncio.get_running_loop().remove_reader(self._from_child)
        await self._running.kill()
        os.close(self._from_child)
        os.close(self._to_child)

    async def _answer(self, folder: Path, limits: Limits) -> bytes | str:
        """The process's line, or why it was stopped: "timeout" or "output_limit"."""
        end = time.monotonic() + limits.wall
        while (left := end - time.monotonic()) > 0:
            line = await self._line(min(left, _TICK))
            if line or not self.alive:
                return line
            with contextlib.suppress(OSError):
                if (folder / "out").lstat().st_size > _OUTPUT_FACTOR * limits.output:
                    return "output_limit"
        return "timeout"

    def _finished(self, answer: bytes | str, folder: Path, limits: Limits, seconds: float) -> Finished | None:
        output, cut = _head_and_tail(folder / "out", limits.output)
        if isinstance(answer, str):
            status = "timeout" if answer == "timeout" else "output_limit"
            return Finished(status, None, output, cut, seconds, f"stopped after {seconds:.0f} s")
        if not answer:
            return None
        said = json.loads(answer)
        status, self.staged = said["status"], bool(said["stage"])
        code = os.waitstatus_to_exitcode(status)
        return Finished("exited", code if code >= 0 else 128 - code, output, cut, seconds)

    async def _line(self, seconds: float) -> bytes:
        """The next line, b"" when none came in time or none will come."""
        with contextlib.suppress(asyncio.TimeoutError):
            line = await asyncio.wait_for(self._lines.get(), seconds)
            if line:
                return line
            await self.close()
        return b""

    def _read(self) -> None:
        try:
            data = os.read(self._from_child, 4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._from_child)
            self._lines.put_nowait(b"")
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._lines.put_nowait(line)


def _head_and_tail(file: Path, limit: int) -> tuple[bytes, bool]:
    """What was printed, its middle left out above `limit`; never through a link that project code put there."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b"", False
    with open(descriptor, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size <= limit:
            return stream.read(limit), False
        head = stream.read(limit // 2)
        stream.seek(-(limit // 2), os.SEEK_END)
        cut = f"\n[... {size - limit} bytes cut ...]\n".encode()
        return head + cut + stream.read(limit // 2), True
