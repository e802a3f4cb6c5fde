# SPDX-License-Identifier: Apache-2.0
"""A simulated segment of EtherCAT: our program of slaves, at the other end of a veth pair.

It answers at the priority of the master, and on the second CPU where the cell names two. Its faults
begin with the middle cycle, so that there is a before and an after.
"""

from __future__ import annotations

import json
from pathlib import Path

from takt.measure.conditions.condition import Condition
from takt.measure.results.model import Cell, Conditions, Note
from takt.measure.results.point import Point
from takt.network import namespace, stacks
from takt.network.namespace import Link
from takt.processes.supervision import Program

PROGRAM = "takt-ethercat-sim"


def lacking(point: Point) -> tuple[str, str, str] | None:
    """What this machine lacks for the slaves of a point: key, what, fix; None: nothing."""
    if point.simulated and (lack := namespace.lacking()):
        return "kind", *lack
    if point.interface and not namespace.exists(point.interface):
        there = ", ".join(namespace.interfaces())
        return "interface", f"no interface {point.interface}", f"available: {there}"
    return None


class Segment(Condition):
    """The segment of one cell; whether its slaves took part is what the master measures."""

    def __init__(self, cell: Cell, link: Link, folder: Path) -> None:
        self._result = folder / f"{cell.id}.segment.json"
        self._result.unlink(missing_ok=True)  # of an attempt before
        command = [str(stacks.program(PROGRAM)), "--interface", link.other_end]
        command += ["--slaves", str(cell.slaves), "--result", str(self._result)]
        if cell.fault != "none":
            command += ["--fault", cell.fault.replace("_", "-")]
            command += ["--fault-cycle", str(cell.samples_requested // 2)]
        if cell.priority:
            command += ["--priority", str(cell.priority)]
        if len(cell.cpu) > 1:
            command += ["--cpu", str(cell.cpu[-1])]
        self.programs = [
            Program(
                role="simulated segment",
                command=link.inside(command),
                result=self._result,
                stderr=folder / f"{cell.id}.segment.stderr",
                background=True,
                ready=self._result.exists,
            )
        ]

    def record(self, into: Conditions) -> None:
        """What it has seen; nothing where it was killed before it could say so."""
        counted = self._counted()
        into.segment_frames = counted.get("frames")
        into.segment_ignored = counted.get("ignored")

    def missing(self) -> Note:
        """What is said where it was not there in time."""
        program = self.programs[0]
        why = program.last_words() or program.how_it_ended
        fix = f"try it by hand: {' '.join(program.command)}"
        return Note(what="the simulated segment did not start", why=why, fix=fix)

    def _counted(self) -> dict[str, int]:
        try:
            found: dict[str, int] = json.loads(self._result.read_bytes())
        except (OSError, ValueError):
            return {}
        return found
