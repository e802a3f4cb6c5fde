# SPDX-License-Identifier: Apache-2.0
"""Tests of all workers share the cores; a test that spins at a real-time priority runs by itself.

It would starve executions and workers of the tests beside it. Readers (ordinary tests) pass a gate
and then hold a shared lock; the writer (a spinning test) holds the gate while it waits for the
lock, so that new readers queue behind it and it gets its turn.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def shared(folder: Path) -> Iterator[None]:
    """Beside other ordinary tests, never beside a spinning one."""
    with (folder / "cores.gate").open("w") as gate, (folder / "cores.lock").open("w") as lock:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)  # a forked child may have its file open, too


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """While no other test runs."""
    with (folder / "cores.gate").open("w") as gate, (folder / "cores.lock").open("w") as lock:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            for one in (lock, gate):
                fcntl.flock(one, fcntl.LOCK_UN)
