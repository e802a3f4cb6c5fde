# SPDX-License-Identifier: Apache-2.0
"""All conditions of a cell together, and what this machine lacks for some."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from takt.measure.conditions import load, segment, traffic, tuned
from takt.measure.conditions.condition import Condition
from takt.measure.conditions.load import Load
from takt.measure.conditions.segment import Segment
from takt.measure.conditions.traffic import Traffic
from takt.measure.conditions.way import Way
from takt.measure.results.model import Cell, Conditions, Note, Status
from takt.processes import namespace
from takt.processes.namespace import Link
from takt.processes.supervision import Program


class Declared:
    """The conditions of one cell, from before its probes start until its samples are counted."""

    def __init__(self, cell: Cell, folder: Path, run_folder: Path, link: Link | None) -> None:
        self._all: list[Condition] = []
        if link and cell.simulated:
            self._all.append(Segment(cell, link, folder))
        elif link:
            self._all.append(Way(cell, link))
        if cell.load != load.NONE:
            self._all.append(Load(cell, folder, run_folder))
        if link and cell.traffic_mbps:
            self._all.append(Traffic(cell, link, folder))
        self._begun = self._ended = False

    @property
    def programs(self) -> list[Program]:
        """What has to be at work before the probes start."""
        return [program for one in self._all for program in one.programs]

    def begin(self) -> None:
        """The probes have started; the second time nothing happens."""
        if not self._begun:
            self._begun = True
            self._each(lambda one: one.begin())

    def end(self) -> None:
        """The probes have ended."""
        self.begin()
        self._ended = True
        self._each(lambda one: one.end())

    def missing(self, program: Program) -> Note | None:
        """What is said where this program was not ready in time, or ended before that."""
        of = [one for one in self._all if program in one.programs]
        return of[0].missing() if of else None

    def judge(self, cell: Cell) -> None:
        """Puts into the cell what was found; a condition that was not met fails it."""
        if not self._all or not self._ended:
            return
        cell.conditions = Conditions()
        for one in self._all:
            one.record(cell.conditions)
        if cell.status is Status.partial:
            return
        for fault in filter(None, (one.fault(cell) for one in self._all)):
            if cell.error is None:
                cell.status, cell.error = Status.failed, fault
            else:
                cell.notes.append(fault)

    def _each(self, what: Callable[[Condition], None]) -> None:
        for one in self._all:
            what(one)


def lacking(cell: Cell) -> tuple[str, str, str] | None:
    """What this machine lacks for the conditions of a cell: key, what, remedy; None: nothing."""
    if lack := tuned.lacking(cell.tuned):
        return "tuned", *lack
    if cell.host != namespace.HERE and (lack := namespace.lacking()):
        return "host", *lack
    if cell.kind == "ethercat":
        return segment.lacking(cell) or _without(cell)
    return _without(cell)


def _without(cell: Cell) -> tuple[str, str, str] | None:
    """Programs that are not there."""
    if cell.traffic_mbps and shutil.which(traffic.IPERF3) is None:
        return "traffic", _absent(traffic.IPERF3), _get(traffic.IPERF3)
    if load.by_stress_ng(cell.load) and shutil.which(load.STRESS_NG) is None:
        return "load", _absent(load.STRESS_NG), _get(load.STRESS_NG)
    return None


def _absent(program: str) -> str:
    return f"{program} is not installed"


def _get(program: str) -> str:
    return f"install it: apt-get install {program}"
