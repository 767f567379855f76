"""No seal: only for a person who said so. Own process group, clean environment, limits, killed whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from regreen.testing.seal import environment
from regreen.testing.seal.door import Access, Limits
from regreen.testing.seal.launching import launch, private_folders
from regreen.testing.seal.process import SealedProcess


class Unsealed:
    """Implements `door.Seal` without confinement: tests run with the person's rights and network.

    Killing is by best effort: a program that starts processes faster than they are found can leave some.
    """

    name = "none"
    mounts = False

    async def start(
        self,
        argv: Sequence[str],
        access: Access,
        limits: Limits,
        env: Mapping[str, str] | None = None,
        inherit: Sequence[int] = (),
    ) -> SealedProcess:
        """See `door.Seal.start`."""
        home, temp = private_folders(access.scratch)
        clean = environment.clean(access.python, home, temp, env)
        config: dict[str, Any] = {"confine": False, "user": None}
        return await launch(argv, access, limits, clean, inherit, config, sweeps=True)
