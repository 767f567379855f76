"""An attacker that swaps a folder and a file of a workspace against links out of it, as fast as it can.

`python race.py FOLDER PARENT`: FOLDER/ws/d and FOLDER/ws/leaf change places with links to FOLDER/outside until the
parent ends. Only the standard library.
"""

from __future__ import annotations

import ctypes
import os
import sys

_SWAP = 2


def main() -> None:
    """Swap until the process that started us is gone."""
    folder, parent = sys.argv[1], int(sys.argv[2])
    libc = ctypes.CDLL(None, use_errno=True)
    pairs = [
        (os.fsencode(f"{folder}/ws/{name}"), os.fsencode(f"{folder}/ws/{name}-link"))
        for name in ("d", "leaf")
    ]
    while os.getppid() == parent:
        for _ in range(500):
            for first, second in pairs:
                libc.renameat2(-100, first, -100, second, ctypes.c_uint(_SWAP))


if __name__ == "__main__":
    main()
