"""`python -m scripted --policy twopart --port 0`: prints its address as the first line, then serves."""

from __future__ import annotations

import argparse
import contextlib
import threading

from scripted.policies import POLICIES
from scripted.server import ScriptedServer
from scripted.state import MODEL


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="scripted", description=__doc__)
    parser.add_argument("--policy", choices=sorted(POLICIES), default="twopart")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--model", action="append", help=f"a model it has (default {MODEL}); may be repeated")
    options = parser.parse_args()
    server = ScriptedServer(options.policy, port=options.port, models=options.model or [MODEL])
    print(server.url, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
    server.close()


main()
