# SPDX-License-Identifier: Apache-2.0
"""All conditions of a cell together, and what this machine lacks for some."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from takt.machine import cpu_quota
from takt.measure.conditions import elsewhere, load, relay, segment, traffic, tuned, within
from takt.measure.conditions.clock import OneWay
from takt.measure.conditions.condition import Condition
from takt.measure.conditions.idle import Idle
from takt.measure.conditions.load import Load
from takt.measure.conditions.machine import machines
from takt.measure.conditions.relay import Relay
from takt.measure.conditions.segment import Segment
from takt.measure.conditions.traffic import BetweenHosts, OverLink, Traffic
from takt.measure.conditions.watched_hosts import WatchedHosts
from takt.measure.conditions.way import Way
from takt.measure.conditions.wire import Wire
from takt.measure.conditions.within import Within
from takt.measure.results.model import Cell, Conditions, Note, Status
from takt.measure.results.point import Point
from takt.network import namespace, shaping
from takt.network.hosts import Hosts, other_hosts
from takt.network.workers import Workers
from takt.processes.others import Taken
from takt.processes.supervision import Program
from takt.processes.usage import KernelWork


class Declared:
    """The conditions of one cell, from before its probes start until its samples are counted."""

    def __init__(
        self, cell: Cell, folder: Path, run_folder: Path, hosts: Hosts, quota: Path | None = None
    ) -> None:
        """``quota`` is the control group of a limited load."""
        self._all: list[Condition] = []
        self._watched: WatchedHosts | None = None
        self._one_way = OneWay(hosts) if hosts.remotes and cell.kind == "pubsub" else None
        link = hosts.link
        if link and cell.simulated:
            self._all.append(Segment(cell, link, folder))
        elif link:
            self._all.append(Way(cell, link))
        if link and relay.needed(cell):  # first: nothing passes before
            self._all.append(Relay(cell, link, folder))
        if hosts.remotes:
            self._all.append(Wire(hosts))
            self._watched = WatchedHosts(cell, hosts)
            self._all.append(self._watched)
        if self._one_way:
            self._all.append(self._one_way)
        loaded = machines(hosts, run_folder, cell.hosts)
        for machine, asked in zip(loaded, cell.loads.values(), strict=False):
            if asked == load.IDLE:
                self._all.append(Idle(machine))
            elif asked != load.NONE:
                group = quota if load.limited(asked) else None
                self._all.append(Load(cell, asked, folder, machine, group))
        if cell.traffic_mbps:
            path = OverLink(link) if link else BetweenHosts(hosts, cell.hosts, run_folder)
            self._all.append(Traffic(cell, path, folder))
        watched = self._watched.machines if self._watched else []
        by_kernel = any(
            load.by_kernel_too(asked)
            for host, asked in cell.loads.items()
            if host not in watched  # whose workers count the kernel's work there
        )
        self._kernel = KernelWork() if by_kernel else None
        self._system = None if cell.within is None else Within(cell.within)
        self._all += [self._system] if self._system else []
        self._begun = self._ended = False

    @property
    def add_ns(self) -> int:
        """What is to be added to a subscriber's stamps to have them on the publisher's clock."""
        return self._one_way.add_ns if self._one_way else 0

    def taken(self) -> list[Taken]:
        """What other programs took on other machines; known when the probes have ended."""
        return list(self._watched.taken.values()) if self._watched else []

    def spent(self) -> float:
        """Seconds of CPU time of programs that are a condition, but were not started here."""
        system = self._system.spent() if self._system else 0.0
        return system + (self._kernel.look() if self._kernel else 0.0)

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


def lacking(point: Point, workers: Workers | None = None) -> Iterator[tuple[str, str, str]]:
    """What this machine lacks for the conditions of a point, each as key, what, fix."""
    names = other_hosts(point.host)
    found: dict[str, Callable[[], tuple[str, str] | None]] = {
        "tuned": lambda: tuned.lacking(point.tuned) if _here(point) else None,
        "cores": lambda: tuned.lacking(tuned.NONE, tuned.cores_of(point)),
        "load": lambda: (
            (_absent(load.STRESS_NG) if _loads_here(point) else None)
            or (cpu_quota.lacking() if any(map(load.limited, point.loads.values())) else None)
        ),
        "within": lambda: None if point.within is None else within.lacking(point.within),
        "host": lambda: namespace.lacking() if namespace.THERE in point.hosts else None,
        "transport": lambda: namespace.lacking_times() if _timed_link(point) else None,
        "traffic": lambda: _absent(traffic.IPERF3) if _traffic_here(point) else None,
        "delay" if point.delay_us else "loss": lambda: relay.lacking(point),
    }
    if names:
        found["host"] = lambda: elsewhere.lacking(point, names, workers)
    lacks = {key: said for key, lack in found.items() if (said := lack())}
    yield from ((key, *said) for key, said in lacks.items())
    if workers and "host" not in lacks:
        yield from elsewhere.without(point, names, workers)
    if point.kind == "ethercat" and (slaves := segment.lacking(point)):
        yield slaves


def _loads_here(point: Point) -> bool:
    """Whether stress-ng loads this machine."""
    each = point.loads.items()
    return any(load.by_stress_ng(one) for host, one in each if not other_hosts(host))


def _traffic_here(point: Point) -> bool:
    """Whether iperf3 runs on this machine."""
    return bool(point.traffic_mbps) and _here(point)


def _timed_link(point: Point) -> bool:
    """Whether a link is made whose messages leave at set times."""
    timed = namespace.THERE in point.hosts and point.transport == shaping.TXTIME
    return timed and namespace.lacking() is None


def _here(point: Point) -> bool:
    """Whether a role is on this machine."""
    return len(other_hosts(point.host)) < len(point.hosts)


def _absent(program: str) -> tuple[str, str] | None:
    if shutil.which(program):
        return None
    return f"{program} is not installed", f"install it: apt-get install {program}"
