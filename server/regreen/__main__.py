"""Entry point that works from a wheel, from a checkout and from an editor extension's folder.

An extension ships `<folder>/regreen`, beside it `<folder>/../pure` (libraries without native parts, for every
command) and `<folder>/../libs` (what the language server needs). The interpreter is started with `-I`, so that
neither the current folder nor PYTHONPATH can put other code in front of ours.
"""

import sys
from pathlib import Path


def _extend_path(command: str) -> None:
    package = Path(__file__).resolve().parent
    shipped = [package.parent, package.parent.parent / "pure"]
    if command == "serve":
        shipped.append(package.parent.parent / "libs")
    # In front: the interpreter is any Python of the person's, which may hold other versions of the same libraries.
    sys.path[:0] = [str(folder) for folder in shipped if folder.is_dir() and str(folder) not in sys.path]


if __name__ == "__main__":
    _extend_path(sys.argv[1] if len(sys.argv) > 1 else "")
    from regreen.cli import main

    sys.exit(main())
