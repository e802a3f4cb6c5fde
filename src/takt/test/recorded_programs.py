# SPDX-License-Identifier: Apache-2.0
"""Programs recorded by takt record, in a process of its own; without its build, tests skip."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from takt.errors import Failure
from takt.network import stacks

try:
    PLAYED = stacks.program("played_events")
    LIBRARY = stacks.program("libtakt_record.so")
except Failure:
    pytest.skip("takt_record is not built with its tests", allow_module_level=True)


def record(folder: Path, *command: str | Path, options: tuple[str, ...] = ()) -> dict[str, Any]:
    """The document of the command in a process of its own, with its exit code."""
    done = takt("record", "-o", folder, "--json", *options, "--", *command)
    document = json.loads(done.stdout) if done.stdout else {}
    return {"exit": done.returncode, "stderr": done.stderr, **document}


def takt(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "takt", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
