# SPDX-License-Identifier: Apache-2.0
"""Outlives a run, to sweep the shared memory of one that was killed; standard library only.

Usage: undertaker.py LOCK MEMORY STARTER

It waits for the lock in the run's scratch folder, which the kernel drops when the tool dies,
however it dies. Of a run that ended in order the folder is gone by then: there is nothing to do.
What the journal has not seen yet (a probe was just starting) is told by having come since then.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

BEFORE = "shared_memory_before.txt"  # in the scratch folder
ENDING_S = 3.0  # until the programs of a killed run have ended
_POLL_S = 0.02


def watch_over(folder: Path, memory: Path) -> None:
    """Starts one for the run of this process, which has locked its scratch folder."""
    from takt.processes.guard import MARK, identity
    from takt.processes.leftovers import present
    from takt.processes.scratch import LOCK

    names = "".join(f"{name}\n" for name in sorted(present(memory)))
    (folder / BEFORE).write_text(names, encoding="utf-8")
    command = [sys.executable, "-IS", __file__, folder / LOCK, memory, identity(os.getpid())]
    subprocess.run(
        list(map(str, command)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name != MARK},
        start_new_session=True,
        check=False,  # without one, the next run sweeps
    )


def main(lock: Path, memory: Path, starter: str) -> int:
    """Waits for the end of the run, and sweeps where it has left its folder."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.fork():
        return 0  # the tool does not wait for it, and nobody takes it for a program of the run
    try:
        with lock.open("rb") as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
        names = (lock.parent / BEFORE).read_text(encoding="utf-8").split()
    except OSError:
        return 0  # it has ended in order
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from takt.processes import leftovers

    limit = time.monotonic() + ENDING_S
    while _programs_of(starter) and time.monotonic() < limit:
        time.sleep(_POLL_S)
    leftovers.sweep_since(names, memory)
    leftovers.sweep_dead_runs(memory)
    return 0


def _programs_of(starter: str) -> bool:
    """Whether a program that it has started is still there."""
    from takt.processes.guard import MARK, identity

    mark = f"{MARK}={starter}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                environment = (entry / "environ").read_bytes().split(b"\0")
                if mark in environment and identity(int(entry.name)):
                    return True
    return False


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
