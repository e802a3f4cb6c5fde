# SPDX-License-Identifier: Apache-2.0
"""What keeps the machine busy while a cell is measured: normal processes of our own.

They are there before the probes and end after them. A load that did not keep the CPUs busy, or did
not write where it was to, was none: its cell has failed.
"""

from __future__ import annotations

import os
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from takt.documents import own
from takt.measure.results.model import Cell, Conditions, Note
from takt.processes import usage
from takt.processes.scratch import LOADED
from takt.processes.supervision import Program

NONE, IDLE, CPU, FFT, STRESS = "none", "idle", "cpu", "fft", "stress"
PATTERN = re.compile(r"none|idle|cpu|fft|stress(?: ([1-9][0-9]?))?")
STRESS_NG = "stress-ng"
WORKERS = 8  # of each kind, Gutiérrez et al. 2018, III.B
WORKER_BYTES = 64 << 20  # of memory or of a file, each
STRESSORS = ("cpu", "vm", "io", "hdd")
MOST_IDLE = 0.1  # of the CPUs' time
LEAST_SHARE = 0.01  # of it: a busy loop at a real-time priority leaves no more than 2 %

# Arithmetic on one CPU until the end.
_COMPUTE = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
x = 1.0
while True:
    x = (x * 1.000001) % 1e6
"""


def by_stress_ng(load: str) -> bool:
    """Whether this load needs stress-ng."""
    return load not in (NONE, IDLE, CPU)


def bytes_taken(load: str) -> int:
    """Of memory, and as much again of the disk."""
    return _workers(load) * WORKER_BYTES if load.startswith(STRESS) else 0


@dataclass(frozen=True)
class _Part:
    """One program of a load."""

    program: Program
    processes: int  # at least, once all of it is there
    writes: bool = False

    def family(self) -> list[int]:
        process = self.program.process
        if process is None or process.pid is None or not self.program.running:
            return []
        return usage.family([process.pid])

    def works(self) -> bool:
        """Whether all of it is there, and has begun with what it is for."""
        used = usage.of(self.family())
        return used.processes >= self.processes and (used.stored > 0 or not self.writes)


@dataclass(frozen=True)
class _Look:
    """What had been used at a moment."""

    at_ns: int
    used: usage.Used
    cpus: usage.Cpus


class Load:
    """The load of one cell."""

    def __init__(self, cell: Cell, folder: Path, run_folder: Path) -> None:
        self._load = cell.load
        self._cpus = sorted(os.sched_getaffinity(0))
        self._parts = list(self._made(cell, folder, run_folder))
        self.programs = [one.program for one in self._parts]
        for part in self._parts:
            part.program.ready = part.works
        self._before = self._after = _Look(0, usage.Used(0, 0, 0, 0), usage.Cpus(0, 0))
        self._left: list[str] = []

    def begin(self) -> None:
        """From here on it counts."""
        self._before = self._look()

    def end(self) -> None:
        """Up to here it counts."""
        self._after = self._look()
        self._left = [one.program.role for one in self._parts if not one.works()]

    def record(self, into: Conditions) -> None:
        """CPU time and what was written."""
        into.load_cpu_share = round(self._share, 4)
        into.idle_cpu_share = round(self._idle, 4)
        if any(one.writes for one in self._parts):
            into.load_written_bytes = max(0, self._after.used.stored - self._before.used.stored)

    def fault(self, _cell: Cell) -> Note | None:
        """Where it was not what it is called."""
        fix = f"check for other limits (a quota, a full disk); by hand: {self._by_hand}"
        if self._left:
            return Note(
                what=f"the load {self._load} fell short", why=", ".join(self._left), fix=fix
            )
        if self._idle > MOST_IDLE or self._share < LEAST_SHARE:
            why = (
                f"the CPUs were idle for {self._idle:.0%} of the time, and {self._share:.0%} of it "
                "was the load's"
            )
            return Note(what=f"the load {self._load} did not load the machine", why=why, fix=fix)
        return None

    def missing(self) -> Note:
        """What is said where it was not there in time."""
        absent = [one.program for one in self._parts if not one.works()]
        why = "; ".join(f"{one.role}: {one.last_words() or 'not at work'}" for one in absent)
        fix = f"try it by hand: {self._by_hand}; its files need a disk, not a tmpfs"
        return Note(what=f"the load {self._load} did not start", why=why, fix=fix)

    @property
    def _by_hand(self) -> str:
        return " ".join(self.programs[-1].command)

    @property
    def _idle(self) -> float:
        total = self._after.cpus.total_ns - self._before.cpus.total_ns
        return (self._after.cpus.idle_ns - self._before.cpus.idle_ns) / total if total else 0.0

    @property
    def _share(self) -> float:
        total = (self._after.at_ns - self._before.at_ns) * len(self._cpus)
        return max(0, self._after.used.cpu_ns - self._before.used.cpu_ns) / total if total else 0.0

    def _look(self) -> _Look:
        used = usage.of(pid for one in self._parts for pid in one.family())
        return _Look(time.monotonic_ns(), used, usage.cpus(self._cpus))

    def _made(self, cell: Cell, folder: Path, run_folder: Path) -> list[_Part]:
        if cell.load == CPU:
            return [
                _Part(_program(cell, folder, f"load on CPU {cpu}", command), 1)
                for cpu in self._cpus
                for command in [[sys.executable, "-IS", "-c", _COMPUTE, str(cpu)]]
            ]
        # Each of its programs has a guard, a parent and workers; all the workers do one thing.
        # Under their own names processes keep the environment by which ``takt clean`` knows them.
        common = [STRESS_NG, "--quiet", "--keep-name", "--timeout", "0"]
        if cell.load == FFT:  # Ye et al. 2023, as the thesis says it: on all CPUs
            workers = len(self._cpus)
            command = [*common, "--cpu", str(workers), "--cpu-method", "fft"]
            return [_Part(_program(cell, folder, "load fft", command, watched=True), workers + 2)]
        workers, files = _workers(cell.load), run_folder / LOADED
        with own.opened(run_folder) as place:
            place.make(LOADED)
        more = {
            "vm": ["--vm-bytes", str(WORKER_BYTES)],
            "hdd": ["--hdd-bytes", str(WORKER_BYTES)],
        }
        common += ["--temp-path", str(files)]
        return [
            _Part(
                _program(
                    cell,
                    folder,
                    f"load {name}",
                    [*common, f"--{name}", str(workers), *more.get(name, [])],
                    watched=True,
                ),
                workers + 2,
                writes=name == "hdd",
            )
            for name in STRESSORS
        ]


def _program(
    cell: Cell, folder: Path, role: str, command: list[str], *, watched: bool = False
) -> Program:
    name = f"{cell.id}.{role.replace(' ', '_')}"
    return Program(
        role=role,
        command=command,
        result=folder / f"{name}.json",
        stderr=folder / f"{name}.stderr",
        background=True,
        watched=watched,
    )


def _workers(load: str) -> int:
    match = PATTERN.fullmatch(load)
    return int(match[1]) if match and match[1] else WORKERS
