# SPDX-License-Identifier: Apache-2.0
"""What two guests left of a test between them: an ordinary cell, and what their threads did."""

from __future__ import annotations

import shutil
from math import sqrt
from pathlib import Path

from takt.lab import cells, guest, host_jobs, network_threads
from takt.lab.cells import Planned
from takt.lab.hosts import COMPONENT, CONTROLLER, HOSTS
from takt.lab.hosts_model import HostsTest
from takt.lab.modes import WAYS, Mode
from takt.measure.conditions.traffic import LEAST
from takt.measure.results.model import Cell, Conditions, Note, Status, TunedPlace
from takt.network import stacks


def cell_of(one: Planned, out: Path, folder: Path, mode: Mode, kernel: str) -> Cell:
    """The cell as any other one, with what both guests say of its conditions."""
    here = out / CONTROLLER
    pong = one.programs[0].result.name
    if (out / COMPONENT / pong).is_file():
        shutil.copyfile(out / COMPONENT / pong, here / pong)
    cell = cells.measured(one, here, folder, WAYS[mode].numbers, stacks.find())
    cell.notes.append(Note(what=f"both guests run {kernel}", why="one kernel, booted twice"))
    if cell.error is None and not all(cells.is_kept(one, out / host) for host in HOSTS):
        why = "the load of one of the guests was gone when the test ended"
        cell.error = Note(what="the load ended before the measurement", why=why)
        cell.status = Status.failed
    cell.conditions = Conditions()
    received = []
    for host in HOSTS:
        before, after = _counts(out, host, cell)
        received.append(network_threads.traffic_mbps(before, after, cell.sent, cell.payload_bytes))
        found = cell.conditions.of(host)
        found.tuned = [
            TunedPlace(setting=setting, where=thread, before=usual, now=now)
            for thread, (now, _, _) in after.threads.items()
            for setting, usual in [host_jobs.usual(thread)]
            if now != usual
        ]
        found.tuned_places = len(found.tuned)
    if cell.traffic_mbps:
        back, there = (round(one, 3) for one in received)
        cell.conditions.traffic_there_mbps, cell.conditions.traffic_back_mbps = there, back
        # Each guest counts by its own clock. How far these differ is in one way as a factor, in the
        # other one as its inverse.
        if cell.error is None and sqrt(there * back) < LEAST * cell.traffic_mbps:
            why = f"{there:.3g} Mbit/s reached the second host, {back:.3g} Mbit/s the first"
            why += "".join(f"; {host}: {_said(out / host, cell)}" for host in HOSTS)
            what = f"the traffic did not reach {cell.traffic_mbps:g} Mbit/s"
            cell.status, cell.error = Status.failed, Note(what=what, why=why)
    return cell


def _said(out: Path, cell: Cell) -> str:
    """The last words of iperf3."""
    log = out / f"{cell.id}{host_jobs.TRAFFIC_LOG}"
    return guest.console_text(log).strip()[-200:] or "no message"


def _counts(out: Path, host: str, cell: Cell) -> tuple[network_threads.Counts, ...]:
    return tuple(
        network_threads.read(out / host / f"{cell.id}.{when}.counts")
        for when in ("before", "after")
    )


def result_of(cell: Cell, out: Path) -> HostsTest:
    """What the cell says, with the threads of both guests; ``out`` has what they left."""
    conditions = cell.conditions or Conditions()
    threads = [
        thread
        for host in HOSTS
        for thread in network_threads.between(host, *_counts(out, host, cell))
    ]
    found = cell.statistics
    return HostsTest(
        test=cell.label,
        cell=cell.id,
        sent=cell.sent,
        late=cell.lost + (found.exceedance.exceeded if found else 0),
        lost=cell.lost,
        p50_us=cell.p50_us,
        p99_us=cell.p99_us,
        max_us=cell.max_us,
        traffic_there_mbps=conditions.traffic_there_mbps,
        traffic_back_mbps=conditions.traffic_back_mbps,
        threads=threads,
        fault=f"{cell.error.what}: {cell.error.why}" if cell.error else None,
    )
