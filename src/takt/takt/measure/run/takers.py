# SPDX-License-Identifier: Apache-2.0
"""Who takes a core while it is watched: programs by name, interrupts and steal time by counters."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from takt.measure.results.model import Cell
from takt.measure.results.point import SUPPLY
from takt.measure.results.supply import Taker
from takt.measure.statistics.supply import Watched
from takt.processes.switches import Switches

PROC = Path("/proc")
TICKS_S = os.sysconf("SC_CLK_TCK")
MOST = 8  # takers of a kind that are kept
_OWN = "probe_"  # how the name of the thread begins that watches


class Takers:
    """Of the core of a supply, from now on; of another cell, nobody."""

    def __init__(self, cell: Cell) -> None:
        self._cpus = cell.cpu[:1] if cell.kind == SUPPLY else []
        self._switches = Switches(self._cpus, lambda _, name: name.startswith(_OWN))
        self._watching: set[int] = set()
        self._before = _counters(self._cpus)
        self._after: dict[tuple[str, str], float] = {}

    def look(self, watching: Iterable[int]) -> None:
        """Takes the kernel's records of switches; its memory for them is small.

        ``watching``: the processes that watch. They take nothing, under no name: a program has the
        one of its starter for up to a second, where it began on another core.
        """
        self._watching.update(watching)
        self._switches.look()

    def end(self) -> None:
        """When the core is watched no more."""
        self._after = _counters(self._cpus)
        self._switches.end()

    def of(self, windows: Iterable[Watched]) -> list[Taker]:
        """Those that took time within windows, and what the counters of the core say."""
        counted = [
            Taker(kind=kind, name=name, count=round(more))
            for (kind, name), now in self._after.items()
            if kind != "steal" and (more := now - self._before.get((kind, name), 0.0)) > 0
        ]
        found = [*self._programs(list(windows))]
        for kind in ("interrupt", "softirq"):
            mine = [one for one in counted if one.kind == kind]
            found += sorted(mine, key=lambda one: -one.count)[:MOST]
        stolen = self._after.get(STEAL, 0.0) - self._before.get(STEAL, 0.0)
        if stolen > 0:
            found.append(Taker(kind="steal", name="hypervisor", seconds=stolen / TICKS_S))
        return found

    def _programs(self, windows: list[Watched]) -> list[Taker]:
        begins = np.array([one.begin for one in windows], np.int64)
        ends = np.array([one.end for one in windows], np.int64)
        lengths: dict[str, list[int]] = {}
        for held in self._switches.held:
            if held.process in self._watching:
                continue
            first, last = np.searchsorted(ends, held.begin), np.searchsorted(begins, held.end)
            within = np.minimum(ends[first:last], held.end) - np.maximum(
                begins[first:last], held.begin
            )
            if (taken := int(within.sum())) > 0:
                lengths.setdefault(held.name, []).append(taken)
        found = [
            Taker(
                kind="program",
                name=name,
                count=len(taken),
                seconds=sum(taken) / 1e9,
                longest_us=max(taken) / 1e3,
            )
            for name, taken in lengths.items()
        ]
        return sorted(found, key=lambda one: -(one.seconds or 0.0))[:MOST]

    @property
    def refused(self) -> str | None:
        """Why no program is named."""
        return self._switches.refused


STEAL = ("steal", "")


def _counters(cpus: Iterable[int]) -> dict[tuple[str, str], float]:
    """Interrupts, softirqs and ticks of steal time of cores since boot, by kind and name."""
    found: Counter[tuple[str, str]] = Counter()
    for cpu in cpus:
        for kind, file in (("interrupt", "interrupts"), ("softirq", "softirqs")):
            for name, count in _table(PROC / file, f"CPU{cpu}"):
                found[kind, name] += count
        for line in _lines(PROC / "stat"):
            fields = line.split()
            if fields and fields[0] == f"cpu{cpu}" and len(fields) > 8:
                found[STEAL] += int(fields[8])
    return dict(found)


def _table(path: Path, column: str) -> Iterator[tuple[str, int]]:
    """One column of a table of the kernel, with the name of each row."""
    lines = _lines(path)
    heads = lines[0].split() if lines else []
    if column not in heads:
        return
    place = heads.index(column)
    for line in lines[1:]:
        label, _, rest = line.partition(":")
        fields = rest.split()
        if len(fields) > place and fields[place].isdigit():
            words = [one for one in fields[len(heads) :] if not one.isdigit()]
            yield " ".join(words) or label.strip(), int(fields[place])


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
