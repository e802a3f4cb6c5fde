# SPDX-License-Identifier: Apache-2.0
"""Where no thread can be started any more, a probe says so, and what to do."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

import pytest

from takt.errors import Failure
from takt.network import stacks

NOBODYS = 54321  # a user without processes: root's are not counted


def at_the_limit() -> None:
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    if os.geteuid() == 0:
        os.setgid(NOBODYS)
        os.setuid(NOBODYS)


def test_a_probe_without_threads_names_the_limit() -> None:
    try:
        probe = stacks.program("probe_raw")
    except Failure:
        pytest.skip("probe_raw is not installed")
    if any(not one.stat().st_mode & 1 for one in Path(probe).resolve().parents):
        pytest.skip("only this user can start the probes")
    words = ["pingpong", "--transport", "futex", "--count", "10"]
    done = subprocess.run(
        [str(probe), *words], capture_output=True, text=True, preexec_fn=at_the_limit
    )
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "the limit on processes and threads is reached" in said
    assert "raise the limit on processes and threads (ulimit -u" in said
