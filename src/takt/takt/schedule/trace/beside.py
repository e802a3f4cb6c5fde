# SPDX-License-Identifier: Apache-2.0
"""Who had the core of a recorded job from its release to its end, while its own thread did not.

In the trace of a recording a thread stands where others have a core, so these stretches are those
of the thread.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from takt.processes.switches import Held

#: The attribute of a stretch in which another program had a core, and those about all stretches.
HELD = "held"
FROM, LOST, REFUSED = f"{HELD}_from_ns", f"{HELD}_lost", f"{HELD}_refused"
#: Those about interrupts, whose stretches are among the others.
INTERRUPTS_LOST, INTERRUPTS_REFUSED = "interrupts_lost", "interrupts_refused"


_MOVED = -3  # the number of no thread


@dataclass(frozen=True, order=True)
class Span:
    """A recorded job, in ns; its end may be missing: then its begin."""

    release: int  # its begin where that is not known
    end: int
    cpu: int  # at its begin; -1: not recorded


@dataclass(frozen=True, order=True)
class Ran:
    """A call of a callback, in ns."""

    begin: int
    end: int


#: Of each process and thread that called callbacks, in order.
Calls = Mapping[tuple[int, int], Sequence[Ran]]


def named(held: Iterable[Held], calls: Calls) -> Iterator[Held]:
    """The stretches, cut at the first and the last callback of their thread, which their names say.

    Before and after them a program makes and destroys its nodes: no model of callbacks has that.
    """
    for one in held:
        of = calls.get((one.process, one.thread))
        if not of:
            yield one
            continue
        first, last = of[0].begin, of[-1].end
        for begin, end, when in (
            (one.begin, min(one.end, first), " before its first callback"),
            (max(one.begin, first), min(one.end, last), ""),
            (max(one.begin, last), one.end, " after its last callback"),
        ):
            if begin < end:
                yield replace(one, begin=begin, end=end, name=one.name + when)


def between(held: Iterable[Held], calls: Sequence[Ran]) -> Iterator[Held]:
    """What is left of stretches of one thread, with such names, outside of its callbacks."""
    first, last = calls[0].begin, calls[-1].end
    for one in held:
        what = " between its callbacks" if first <= one.begin and one.end <= last else ""
        for begin, end in _without(one.begin, one.end, calls):
            yield replace(one, begin=begin, end=end, name=one.name + what)


def beside(held: Sequence[Held], spans: Iterable[Span], thread: int, row: int) -> Iterator[Held]:
    """The stretches of other threads in these jobs, with ``row`` for their core, by time.

    ``thread``: the kernel's number of the one that executed the jobs. Stretches in which it had
    another core are left out: it had moved there.
    """
    by_cpu: dict[int, list[Held]] = defaultdict(list)
    own: list[Held] = []
    for one in sorted(held):
        (own if one.thread == thread else by_cpu[one.cpu]).append(one)
    places: dict[int, int] = defaultdict(int)
    reached = None
    for span in sorted(spans):
        begin = span.release if reached is None else max(span.release, reached)
        reached = max(begin, span.end)
        found = by_cpu.get(span.cpu, [])
        place = places[span.cpu]
        while place < len(found) and found[place].end <= begin:
            place += 1
        places[span.cpu] = place
        while place < len(found) and found[place].begin < span.end:
            one = found[place]
            for low, high in _without(max(one.begin, begin), min(one.end, span.end), own):
                yield Held(low, high, row, one.process, one.name, one.thread)
            place += 1


def interrupted(
    interrupts: Mapping[int, Sequence[Held]],
    taken: Iterable[Held],
    own: Iterable[Held],
    spans: Iterable[Span],
    row: int,
) -> Iterator[Held]:
    """The interrupts in these jobs, with ``row`` for their core, while no other thread had it.

    ``interrupts`` by core. ``taken``: what others had of these jobs. ``own``: the stretches of the
    thread that executed them; on another core, no interrupt of the first one delayed it.
    """
    before = sorted(taken)
    mine = list(own)
    by_cpu: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        by_cpu[span.cpu].append(span)
    for cpu, here in by_cpu.items():
        moved = [replace(one, cpu=cpu, thread=_MOVED) for one in mine if one.cpu != cpu]
        for one in beside([*interrupts.get(cpu, []), *moved], here, _MOVED, row):
            for begin, end in _without(one.begin, one.end, before):
                yield replace(one, begin=begin, end=end)


def _without(
    begin: int, end: int, own: Sequence[Held] | Sequence[Ran]
) -> Iterator[tuple[int, int]]:
    """What is left of a stretch outside of those, which are in order and do not overlap."""
    for place in range(bisect_left(own, begin, key=lambda each: each.end), len(own)):
        one = own[place]
        if one.begin >= end:
            break
        if begin < one.begin:
            yield begin, one.begin
        begin = max(begin, one.end)
    if begin < end:
        yield begin, end
