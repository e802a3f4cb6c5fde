# SPDX-License-Identifier: Apache-2.0
"""What keeps a machine busy while a cell is measured: normal processes of our own.

They are there before the probes and end after them. A load that did not keep the CPUs busy, or did
not write where it was to, was none: its cell has failed.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from takt.errors import Failure
from takt.measure.conditions.condition import Condition
from takt.measure.conditions.machine import NO_LOOK, Machine
from takt.measure.results.model import Cell, Conditions, Note
from takt.processes import guard, usage
from takt.processes.supervision import Program

NONE, IDLE, CPU, FFT, STRESS = "none", "idle", "cpu", "fft", "stress"
LIMITED = " limited"  # ends the name of a load
PATTERN = re.compile(r"none|idle|(?:cpu|fft|stress(?: ([1-9][0-9]?))?)(?: limited)?")
STRESS_NG = "stress-ng"
WORKERS = 8  # of each kind, Gutiérrez et al. 2018, III.B
WORKER_BYTES = 64 << 20  # of memory or of a file, each
STRESSORS = ("cpu", "vm", "io", "hdd")
MOST_IDLE = 0.1  # of the CPUs' time
NEEDS = "needs {} MiB of memory and the same space on disk"
QUOTA = 0.5  # of all CPU time, for a limited load
MOST_SHARE = 1.1 * QUOTA  # a quota is counted by its periods of 100 ms
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
    return load.removesuffix(LIMITED) not in (NONE, IDLE, CPU)


def limited(load: str) -> bool:
    """Whether it has a quota of CPU time."""
    return load.endswith(LIMITED)


def by_kernel_too(load: str) -> bool:
    """Whether threads of the kernel do a part of this load's work: they write its files."""
    return load.startswith(STRESS)


def bytes_taken(load: str) -> int:
    """Of memory, and as much again of the disk."""
    return workers(load) * WORKER_BYTES if load.startswith(STRESS) else 0


@dataclass(frozen=True)
class _Part:
    """One program of a load."""

    program: Program
    processes: int  # at least, once all of it is there
    writes: bool = False

    def works(self, used: usage.Used) -> bool:
        """Whether all of it is there, and has begun with what it is for."""
        return used.processes >= self.processes and (used.stored > 0 or not self.writes)


class Load(Condition):
    """The load of one machine in one cell."""

    def __init__(
        self, cell: Cell, load: str, folder: Path, machine: Machine, group: Path | None = None
    ) -> None:
        """``group`` is a control group whose quota it has."""
        self._load, self._machine, self._group = load, machine, group
        self._parts = list(self._made(cell, folder))
        self.programs = [one.program for one in self._parts]
        for part in self._parts:
            part.program.ready = partial(self._works, part)
        self._before = self._after = NO_LOOK
        self._left: list[str] = []

    def begin(self) -> None:
        """From here on it counts."""
        with contextlib.suppress(Failure):  # of a lost host: its programs say so
            self._before = self._after = self._machine.look(self.programs)

    def end(self) -> None:
        """Up to here it counts."""
        with contextlib.suppress(Failure):
            self._after = self._machine.look(self.programs)
            each = zip(self._parts, self._after.used, strict=True)
            self._left = [one.program.role for one, used in each if not one.works(used)]

    def record(self, into: Conditions) -> None:
        """CPU time and what was written."""
        found = into.of(self._machine.name)
        found.load_cpu_share = round(self._share, 4)
        found.idle_cpu_share = round(self._idle, 4)
        if any(one.writes for one in self._parts):
            written = sum(one.stored for one in self._after.used)
            before = sum(one.stored for one in self._before.used)
            found.load_written_bytes = max(0, written - before)

    def fault(self, _cell: Cell) -> Note | None:
        """Where it was not what it is called."""
        if self._after is self._before:
            why = "its machine did not answer"
            return Note(what=f"nothing is known of {self._title}", why=why, fix="measure it again")
        fix = f"check for other limits (a quota, a full disk); by hand: {self._by_hand}"
        if self._left:
            return Note(what=f"{self._title} fell short", why=", ".join(self._left), fix=fix)
        if self._group and self._share > MOST_SHARE:
            why = f"it had {self._share:.0%} of the CPU time"
            return Note(what=f"{self._title} exceeded its quota of {QUOTA:.0%}", why=why, fix=fix)
        idle = self._idle > MOST_IDLE and not self._group
        if idle or self._share < LEAST_SHARE:
            why = (
                f"the CPUs were idle for {self._idle:.0%} of the time, and {self._share:.0%} of it "
                "was the load's"
            )
            return Note(what=f"{self._title} did not load the machine", why=why, fix=fix)
        return None

    def missing(self) -> Note:
        """What is said where it was not there in time."""
        why = "; ".join(
            f"{one.role}: {words}" for one in self.programs if (words := one.last_words())
        )
        fix = f"try it by hand: {self._by_hand}; its files need a disk, not a tmpfs"
        why = why or f"{', '.join(one.role for one in self.programs)}: not at work"
        return Note(what=f"{self._title} did not start", why=why, fix=fix)

    @property
    def _title(self) -> str:
        on = f" on {self._machine.name}" if self._machine.name else ""
        return f"the load {self._load}{on}"

    @property
    def _by_hand(self) -> str:
        return " ".join(self.programs[-1].command)

    def _works(self, part: _Part) -> bool:
        return part.works(self._machine.look([part.program]).used[0])

    @property
    def _idle(self) -> float:
        total = self._after.cpus.total_ns - self._before.cpus.total_ns
        return (self._after.cpus.idle_ns - self._before.cpus.idle_ns) / total if total else 0.0

    @property
    def _share(self) -> float:
        total = (self._after.at_ns - self._before.at_ns) * len(self._machine.cpus)
        used = sum(one.cpu_ns for one in self._after.used)
        before = sum(one.cpu_ns for one in self._before.used)
        return max(0, used - before) / total if total else 0.0

    def _made(self, cell: Cell, folder: Path) -> list[_Part]:
        if self._load.removesuffix(LIMITED) == CPU:
            return [
                self._part(cell, folder, f"load on CPU {cpu}", command, 1)
                for cpu in self._machine.cpus
                for command in [[self._machine.python, "-IS", "-c", _COMPUTE, str(cpu)]]
            ]
        # Each of its programs has a guard, a parent and workers; all the workers do one thing.
        # Under their own names processes keep the environment by which ``takt clean`` knows them.
        common = [STRESS_NG, "--quiet", "--keep-name", "--timeout", "0"]
        # Ye et al. 2023, as the thesis says it: on all CPUs.
        if self._load.removesuffix(LIMITED) == FFT:
            number = len(self._machine.cpus)
            command = [*common, "--cpu", str(number), "--cpu-method", "fft"]
            return [self._part(cell, folder, "load fft", command, number + 2)]
        number = workers(self._load)
        more = {
            "vm": ["--vm-bytes", str(WORKER_BYTES)],
            "hdd": ["--hdd-bytes", str(WORKER_BYTES)],
        }
        common += ["--temp-path", str(self._machine.files())]
        return [
            self._part(
                cell,
                folder,
                f"load {name}",
                [*common, f"--{name}", str(number), *more.get(name, [])],
                number + 2,
                writes=name == "hdd",
            )
            for name in STRESSORS
        ]

    def _part(
        self,
        cell: Cell,
        folder: Path,
        role: str,
        command: list[str],
        processes: int,
        *,
        writes: bool = False,
    ) -> _Part:
        role += f" on {self._machine.name}" if self._machine.name else ""
        name = f"{cell.id}.{role.replace(' ', '_')}"
        program = Program(
            role=role,
            command=command,
            result=folder / f"{name}.json",
            stderr=folder / f"{name}.stderr",
            background=True,
            watched=processes > 1,
            environment={guard.GROUP: str(self._group)} if self._group else {},
        )
        return _Part(self._machine.placed(program), processes, writes)


def workers(load: str) -> int:
    """Of each kind, by stress-ng."""
    match = PATTERN.fullmatch(load)
    return int(match[1]) if match and match[1] else WORKERS
