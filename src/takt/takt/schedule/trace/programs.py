# SPDX-License-Identifier: Apache-2.0
"""Other programs on the cores of a trace: written behind its events, and read again.

Each stretch in which a thread of no traced task had a core is an attribute,
``held=CORE BEGIN END PROCESS NAME``, with times as those of events; ``held_from_ns`` is the length
from which stretches are recorded, ``held_lost`` the number of context switches that were not, and
``held_refused`` says why there are none.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from takt.processes.switches import LEAST_NS, Held, Switches
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Names

HELD, FROM, LOST, REFUSED = "held", "held_from_ns", "held_lost", "held_refused"
_ATTRIBUTE, _NAME, _PIECE = 4, 1, 24  # as in docs/reference/trace.md


def append(trace: Path, switches: Switches) -> None:
    """Writes what was recorded within responses behind the events of a trace; raises OSError."""
    texts = [f"{REFUSED}={switches.refused}"] if switches.refused else []
    if not switches.refused:
        texts = [f"{FROM}={LEAST_NS}"]
        lost = switches.lost + switches.left_out
        texts += [f"{LOST}={lost}"] if lost else []
        responses = _Responses()
        files.replay(files.read(trace), [responses])
        texts += [
            f"{HELD}={one.cpu} {one.begin} {one.end} {one.process} {one.name}"
            for one in responses.overlapped(switches.held)
        ]
    with trace.open("ab") as file:
        file.write(b"".join(map(_record, texts)))


class _Responses:
    """When each core owed a response: from a release to the end of its job."""

    def __init__(self) -> None:
        self._spans: list[tuple[NDArray[np.int64], ...]] = []  # core, release, end
        self._unfinished: files.Table = {}

    def take(self, step: files.Step) -> None:
        """The next stretch."""
        self._add(step.jobs)
        self._unfinished = step.unfinished

    def overlapped(self, held: Sequence[Held]) -> list[Held]:
        """Those of these stretches in which their core owed a response."""
        if not self._unfinished:
            return []  # no event at all
        self._add(self._unfinished)
        cores, releases, ends = (np.concatenate(one) for one in zip(*self._spans, strict=True))
        ordered = np.argsort(releases, kind="stable")
        found = []
        for cpu in {one.cpu for one in held}:
            of = ordered[(cores[ordered] == cpu) | (cores[ordered] == files.NONE)]
            begins, until = releases[of], np.maximum.accumulate(ends[of])
            mine = [one for one in held if one.cpu == cpu]
            places = np.searchsorted(begins, [one.end for one in mine])
            found += [
                one
                for one, place in zip(mine, places.tolist(), strict=True)
                if place and until[place - 1] > one.begin
            ]
        return sorted(found)

    def _add(self, jobs: files.Table) -> None:
        whole = files.told(jobs["release"])
        end = np.where(files.told(jobs["end"]), jobs["end"], np.iinfo(np.int64).max)
        self._spans.append(
            (jobs["core"][whole].astype(np.int64), jobs["release"][whole], end[whole])
        )


def _record(text: str) -> bytes:
    raw = text.encode()
    return b"".join(
        struct.pack(
            f"<{_PIECE}sHHHBB",
            raw[at : at + _PIECE],
            0,
            _ATTRIBUTE,
            at // _PIECE,
            _NAME,
            len(raw[at : at + _PIECE]),
        )
        for at in range(0, len(raw), _PIECE)
    )


@dataclass(frozen=True)
class Program:
    """A program, and for how long it had a core."""

    name: str
    process: int
    ns: int


class Programs:
    """What a trace records of other programs."""

    def __init__(self, names: Names) -> None:
        self.recorded = bool(names.values(FROM))
        self.refused = next(iter(names.values(REFUSED)), None)
        self.lost = sum(int(one) for one in names.values(LOST) if one.isdigit())
        by_core: dict[int, list[tuple[int, int, int, str]]] = defaultdict(list)
        for core, begin, end, process, name in _stretches(names):
            by_core[core].append((begin, end, process, name))
        self._by_core = {core: sorted(found) for core, found in by_core.items()}
        self._begins: dict[int, NDArray[np.int64]] = {
            core: np.array([one[0] for one in found]) for core, found in self._by_core.items()
        }

    def remarks(self, *, missed: bool) -> list[str]:
        """What keeps an explanation from naming programs; ``missed``: there is one to give."""
        if self.refused and missed:
            what = f"programs on these cores were not recorded: {self.refused}"
            return [f"{what}; execute as root, or with CAP_PERFMON"]
        if self.lost:
            what = f"{self.lost} context switches were not recorded"
            return [f"{what}: programs may have had the cores for longer"]
        return []

    def within(self, core: int, begin: int, end: int) -> list[Program]:
        """Those that had a core between two times, longest first."""
        found = self._by_core.get(core, [])
        if not found:
            return []
        at = int(np.searchsorted(self._begins[core], end))
        sums: dict[tuple[str, int], int] = defaultdict(int)
        # Stretches of one core do not overlap, so the ends are in order, too.
        for first, last, process, name in reversed(found[:at]):
            if last <= begin:
                break
            sums[name, process] += min(last, end) - max(first, begin)
        ordered = sorted(sums.items(), key=lambda one: (-one[1], one[0]))
        return [Program(name, process, ns) for (name, process), ns in ordered]


def _stretches(names: Names) -> Iterator[tuple[int, int, int, int, str]]:
    for text in names.values(HELD):
        core, begin, end, process, name = [*text.split(" ", 4), "", "", "", "", ""][:5]
        try:
            yield int(core), int(begin), int(end), int(process), name
        except ValueError:
            continue  # not by Takt
