"""Every seal that works on this machine, and folders to use it in."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from regreen.testing.seal import bubblewrap, landlock
from regreen.testing.seal.door import Access, Finished, Limits, Seal
from regreen.testing.seal.process import SealedProcess
from regreen.testing.seal.unsealed import Unsealed


def seals() -> dict[str, Seal]:
    found: dict[str, Seal] = {}
    program, _ = bubblewrap.find()
    if program is not None:
        found["bubblewrap"] = bubblewrap.Bubblewrap(program)
    if not landlock.usable():
        found["landlock"] = landlock.Landlock()
    if sys.platform != "win32":
        found["none"] = Unsealed()
    return found


@dataclass
class Place:
    """A workspace, its trial and a scratch folder, with one seal."""

    seal: Seal
    access: Access

    async def start(self, code: str, limits: Limits | None = None, **more: object) -> SealedProcess:
        argv = [str(self.access.python), "-I", "-c", code]
        return await self.seal.start(argv, self.access, limits or Limits(wall=20), **more)  # type: ignore[arg-type,return-value]

    async def run(self, code: str, limits: Limits | None = None, **more: object) -> Finished:
        return await (await self.start(code, limits, **more)).wait()
