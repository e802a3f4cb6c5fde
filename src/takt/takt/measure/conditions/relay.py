# SPDX-License-Identifier: Apache-2.0
"""Delay, jitter and loss of the link between two hosts: made by a relay that measures itself.

It forwards the frames in a namespace between the two hosts, on kernels with and without netem
alike. What counts is what it did, by its own counters, and that no sample was quicker than the way
allows: a delay that was not there, or that the relay itself made longer, fails the cell.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from takt.errors import Failure
from takt.measure.conditions.condition import Condition
from takt.measure.results.model import Cell, Conditions, Note
from takt.measure.results.point import Point
from takt.network import stacks
from takt.network.namespace import RELAYED, Link
from takt.processes.supervision import Program

PROGRAM = "link_relay"
PRIORITY = 85  # a wire waits for no program; above what is measured on it
TIME_LIMIT_S = 48 * 3600.0  # of a relay that nobody ends
LATE_SHARE, LATE_US = 0.1, 1000.0  # of the delay, or this: what the relay itself may add (p99)
DEVIATIONS = 5.0  # of the frames lost by chance from those that were asked for
UNASKED = 1e-3  # the share of frames that may be lost otherwise
WAYS = ("there", "back")


def needed(point: Point) -> bool:
    """Whether the link of this cell is more than a wire."""
    return bool(point.delay_us or point.jitter_us or point.loss)


def expected_losses(point: Point) -> float:
    """How many round trips will be lost, on average; each is waited for."""
    if point.kind != "pingpong":
        return 0.0
    return point.samples_requested * (1 - (1 - point.loss) ** 2)


def lacking(point: Point) -> tuple[str, str] | None:
    """What this installation lacks for it, and what to do; None: nothing."""
    if not needed(point):
        return None
    try:
        stacks.program(PROGRAM)
    except Failure as failure:
        return failure.what, failure.fix or ""
    return None


class Relay(Condition):
    """The relay of one cell."""

    def __init__(self, cell: Cell, link: Link, folder: Path) -> None:
        self._result = folder / f"{cell.id}.relay.json"
        self._result.unlink(missing_ok=True)
        options = {
            "first": RELAYED[0],
            "second": RELAYED[1],
            "delay-ns": round(cell.delay_us * 1e3),
            "jitter-ns": round(cell.jitter_us * 1e3),
            "loss": f"{cell.loss:.9f}",
            "seed": cell.order + 1,
            "priority": PRIORITY,
            "time-limit-ns": round(TIME_LIMIT_S * 1e9),
            "result": self._result,
        }
        command = [str(stacks.program(PROGRAM))]
        for name, value in options.items():
            command += [f"--{name}", str(value)]
        program = Program(
            role="relay",
            command=link.between(command),
            result=self._result,
            stderr=folder / f"{cell.id}.relay.stderr",
            background=True,
        )
        program.ready = self._result.exists  # it is written when frames are forwarded
        self.programs = [program]

    def begin(self) -> None:
        """It forwards already."""

    def end(self) -> None:
        """It writes what it did when it is ended."""

    def record(self, into: Conditions) -> None:
        """What it did, each way."""
        found = self._read()
        for way in WAYS:
            counted = found.get(way, {})
            if counted.get("delay"):
                setattr(into, f"delay_{way}_us", round(counted["delay"]["mean_us"], 3))
            if counted.get("received"):
                setattr(into, f"lost_{way}", counted["lost"] / counted["received"])
        into.relay_late_us = self._late(found)

    def fault(self, cell: Cell) -> Note | None:
        """Where delay or losses were not what they are called."""
        found = self._read()
        if found.get("status") != "stopped":
            why = self.programs[0].last_words() or str(found.get("status", "it wrote no result"))
            return Note(what="the relay stopped early", why=why)
        late = self._late(found)
        if late is None:
            return Note(what="the relay forwarded nothing", why=json.dumps(found))
        most = max(LATE_US, LATE_SHARE * cell.delay_us)
        if late > most:
            why = f"p99 of the added delay is {late:.0f} µs; the limit is {most:.0f} µs"
            fix = f"leave it more CPU time; allow priority {PRIORITY} (granted: {found['policy']})"
            return Note(what="the relay forwarded late", why=why, fix=fix)
        for way in WAYS:
            why = wrong_losses(found[way], cell.loss) or ""
            if why:
                fix = "measure longer, or at a lower rate"
                return Note(
                    what=f"the frames lost {way} do not match the loss probability",
                    why=why,
                    fix=fix,
                )
        return self._too_quick(cell)

    def missing(self) -> Note:
        """What is said where it was not there in time."""
        why = self.programs[0].last_words() or "it does not forward any frame"
        fix = f"try it by hand: {' '.join(self.programs[0].command)}"
        return Note(what="the relay did not start", why=why, fix=fix)

    def _too_quick(self, cell: Cell) -> Note | None:
        """A sample that did not take the way."""
        ways = 2 if cell.kind == "pingpong" else 1
        least = ways * (cell.delay_us - cell.jitter_us)
        fastest = cell.statistics.latency.min_us if cell.statistics else least
        if fastest >= least:
            return None
        why = f"one took {fastest:.1f} µs, and {ways} times the delay is {least:.1f} µs"
        return Note(what="a message bypassed the link", why=why)

    def _read(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._result.read_bytes())
        except (OSError, ValueError):
            return {}
        return found

    @staticmethod
    def _late(found: dict[str, Any]) -> float | None:
        """The worse p99 of the two ways; None where one has forwarded nothing."""
        each = [found.get(way, {}).get("late") for way in WAYS]
        return max(one["p99_us"] for one in each) if all(each) else None


def wrong_losses(counted: dict[str, Any], loss: float) -> str | None:
    """Losses that chance does not explain, in words."""
    frames = counted["received"] + counted["missed"]
    unasked = counted["overflowed"] + counted["unsent"] + counted["missed"]
    if unasked > UNASKED * frames:
        return f"{unasked} of {frames} frames did not fit in the queue"
    expected = loss * counted["received"]
    room = DEVIATIONS * math.sqrt(expected * (1 - loss)) + 1
    if abs(counted["lost"] - expected) > room:
        return f"{counted['lost']} of {counted['received']} frames, expected {expected:.0f}"
    return None
