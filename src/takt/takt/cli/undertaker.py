# SPDX-License-Identifier: Apache-2.0
"""Outlives a run, to sweep the shared memory of one that was killed; standard library only.

Usage: undertaker.py FOLDER RUN_FOLDER MEMORY STARTER (watch.py starts it)

It is there before the run's scratch folder is, and reads a pipe whose other end only the tool has.
A run that ends in order says so there: then there is nothing to do. The kernel closes the pipe when
the tool dies, however it dies. Programs that hang meanwhile (Fast DDS may wait for itself for ever)
are ended. What the journal has not seen yet (a probe was just starting) is told by having come
since then.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

ENDING_S = 1.0  # for the programs of a killed run to end by themselves
LIMIT_S = 60.0  # until they are gone, however slow the machine is
_POLL_S = 0.02
_AGAIN_S, _TRIES = 0.5, 10  # what somebody uses stays after that, for the next run's sweep


def main(folder: Path, run_folder: Path, memory: Path, starter: str) -> int:
    """Waits for the end of the run, and sweeps where it was killed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    before = [path.name for path in memory.iterdir()]
    if os.fork():
        return 0  # the tool does not wait for it, and nobody takes it for a program of the run
    if os.read(sys.stdin.fileno(), 1):  # it ended in order; a dead tool's pipe gives nothing
        return 0
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from takt.documents.writing import remove_halves
    from takt.network.sweeper import SWEEPER
    from takt.processes import last_will, leftovers, scratch

    with contextlib.suppress(OSError):  # among them what is not ours: nobody hears us say it
        last_will.left_in(folder, execute_it=True)  # first: others wait for their cores
    began, gone = time.monotonic(), 0
    # Twice: who is becoming a program of the run has no environment for a moment, and may have
    # its locks before.
    while gone < 2 and time.monotonic() < began + LIMIT_S:
        held, programs = scratch.is_held(folder), _programs_of(starter)
        gone = 0 if held or programs else gone + 1
        if time.monotonic() > began + ENDING_S:
            for pid in programs:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_S)
    leftovers.sweep_since(before, memory)
    swept = _swept(folder, memory)
    SWEEPER.locks(Path(tempfile.gettempdir()), True)
    scratch.unlock(run_folder, memory)
    remove_halves(run_folder, starter.partition(":")[0])
    # The undertaker of a run within this one ends at the same time, and may have been in the way.
    for _ in range(_TRIES):
        if swept:
            break
        time.sleep(_AGAIN_S)
        swept = _swept(folder, memory)
    return 0


def _swept(folder: Path, memory: Path) -> bool:
    """Sweeps; whether the folder is gone, or waits for a resume."""
    from takt.network.sweeper import SWEEPER
    from takt.processes import leftovers

    waiting = leftovers.sweep_dead_runs(SWEEPER, memory, folder)
    return not folder.exists() or folder in [one.folder for one in waiting]


def _programs_of(starter: str) -> list[int]:
    """Those that it has started and that are still there."""
    from takt.processes.guard import marked

    return [pid for pid, mark in marked() if mark == starter]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]))
