"""The trace on a disk that takes nothing more."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from regreen.agent.trace import TraceWriter
from regreen.errors import RegreenError
from regreen.redact import Redactor
from regreen.run.protocol import JsonChannel
from regreen.run.telling import Teller

FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is there on Linux")


def test_a_full_disk_is_told_once_in_words() -> None:
    trace = TraceWriter(FULL)
    with pytest.raises(RegreenError, match="No space left on device"):
        trace.write({"event": "started"})
    trace.write({"event": "outcome"})
    trace.close()


def test_the_outcome_is_told_though_the_trace_does_not_take_it() -> None:
    told = io.StringIO()
    Teller(TraceWriter(FULL), JsonChannel(-1, told), Redactor({})).emit(
        {"event": "outcome", "outcome": "fixed"}
    )
    assert json.loads(told.getvalue())["outcome"] == "fixed"
