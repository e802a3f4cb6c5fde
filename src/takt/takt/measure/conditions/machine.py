# SPDX-License-Identifier: Apache-2.0
"""A machine that a condition loads or watches: this one, or that of a worker.

Here the kernel is asked about processes of ours, there the agent is asked about those of its
session. Both start with a load as with any other program.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from takt.documents import own
from takt.network.hosts import Hosts
from takt.network.workers import Remote, RemoteProcess
from takt.processes import usage
from takt.processes.scratch import LOADED
from takt.processes.supervision import Program


@dataclass(frozen=True)
class Look:
    """What had been used at a moment."""

    at_ns: int  # of that machine's clock, for what lasted between two looks
    used: list[usage.Used]  # by each of the programs and all that it started
    cpus: usage.Cpus


NO_LOOK = Look(0, [], usage.Cpus(0, 0))


class Machine(Protocol):
    """Where programs of a condition run."""

    name: str  # of the host; empty: there is only this machine
    cpus: list[int]  # that its processes may use
    python: str  # the interpreter of Takt there

    def files(self) -> Path:
        """A folder on a disk of it, for the files of a load; it goes with the cell."""

    def placed(self, program: Program) -> Program:
        """The program, to be started there."""

    def look(self, programs: Sequence[Program]) -> Look:
        """What these have used up to now; raises Gone where the host does not answer."""


class Here:
    """This machine."""

    def __init__(self, run_folder: Path, name: str = "") -> None:
        self.name, self._run_folder = name, run_folder
        self.cpus, self.python = sorted(os.sched_getaffinity(0)), sys.executable

    def files(self) -> Path:
        """In the folder of the run."""
        with own.opened(self._run_folder) as place:
            place.make(LOADED)
        return self._run_folder / LOADED

    def placed(self, program: Program) -> Program:
        """It is here already."""
        return program

    def look(self, programs: Sequence[Program]) -> Look:
        """As the kernel counts it."""
        used = [usage.of(_family(one)) for one in programs]
        return Look(time.monotonic_ns(), used, usage.cpus(self.cpus))


class There:
    """The machine of a worker, for as long as its session lasts."""

    def __init__(self, remote: Remote) -> None:
        self.name, self._remote = remote.name, remote
        self.cpus, self.python = remote.ask("machine")

    def files(self) -> Path:
        """In the folder of the session."""
        return Path(self._remote.ask("load_folder"))

    def placed(self, program: Program) -> Program:
        """What it says on standard error comes home afterwards."""
        stderr = f"{self._remote.folder}/{program.stderr.name}"
        launch = partial(
            self._remote.launch,
            program.command,
            files={},
            profiles={},
            domain=0,
            home={stderr: program.stderr},
            stderr=stderr,
            samples=None,
            watched=program.watched,
        )
        return replace(program, launch=launch)

    def look(self, programs: Sequence[Program]) -> Look:
        """As the kernel there counts it."""
        each = [one.process for one in programs]
        numbers = [one.number if isinstance(one, RemoteProcess) else None for one in each]
        return Look(*self._remote.ask("used", numbers=numbers))


def machines(hosts: Hosts, run_folder: Path, names: Sequence[str]) -> list[Machine]:
    """Those of the hosts of a cell, in the order of its roles; one where both are this machine."""
    if not hosts.remotes:
        return [Here(run_folder)]
    sides = zip(names, (hosts.active, hosts.passive), strict=True)
    return [There(side.remote) if side.remote else Here(run_folder, name) for name, side in sides]


def _family(program: Program) -> list[int]:
    process = program.process
    if process is None or process.pid is None or not program.running:
        return []
    return usage.family([process.pid])
