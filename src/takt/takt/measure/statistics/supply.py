# SPDX-License-Identifier: Apache-2.0
"""What a core provides, from the gaps in which a watching thread did not have it.

The *least supply* of a length is the least time that the thread had in any stretch of that length
within one window. A bounded delay (Mok, Feng & Chen 2001) or a periodic resource (Shin & Lee 2003)
describes the core if its supply is nowhere above that. All times are ns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from takt.measure.statistics.series import Batch
from takt.statistics import Int64

WHOLE = 1_000_000_000  # the denominator of a rate in the core (takt/application/core.hpp)
STEP = 100_000  # of a rate: it is rounded down to four digits
LATENCY_SHARE = 0.99  # of the wake-ups that the latency covers
_FITS_NS = np.iinfo(np.int64).max // WHOLE // 2
LONG = 20  # times the longest gap: a rate over less would be mostly about that gap
INTERRUPT_NS = 100_000  # a longer gap is no interrupt: a program, the hypervisor


@dataclass(frozen=True)
class Watched:
    """One window, and the gaps in it by time; none of them overlap."""

    begin: int
    end: int
    begins: Int64
    ends: Int64

    @property
    def length(self) -> int:
        """Of the window, gaps included."""
        return self.end - self.begin

    @property
    def withheld(self) -> int:
        """The gaps together."""
        return int((self.ends - self.begins).sum())

    def supplied(self, at: Int64) -> Int64:
        """The time that was provided from the begin until ``at``."""
        if not len(self.begins):
            return at - self.begin
        gaps = np.concatenate([[0], np.cumsum(self.ends - self.begins)])
        before = gaps[np.searchsorted(self.ends, at, side="right")]
        place = np.minimum(np.searchsorted(self.ends, at, side="right"), len(self.ends) - 1)
        within = np.clip(at - self.begins[place], 0, None)  # of the gap that at is in
        within[at >= self.ends[place]] = 0
        supplied: Int64 = at - self.begin - before - within
        return supplied


@dataclass(frozen=True)
class BoundedDelay:
    """A rate in billionths of the core, after a delay."""

    rate: int
    delay: int

    def least(self, length: int) -> float:
        """What it provides in each stretch of this length."""
        return max(0.0, (length - self.delay) * self.rate / WHOLE)

    def periodic(self) -> tuple[int, int] | None:
        """The budget and the period of the periodic resource with the same rate that is below.

        Its supply is at most its rate after period - budget. None: the rate is the whole core.
        """
        if self.rate >= WHOLE:
            return None
        period = -(-self.delay * WHOLE // (WHOLE - self.rate))
        budget = period * self.rate // WHOLE
        return (budget, period) if budget > 0 else None


def latency_of(late: Int64) -> int:
    """The time from a planned to an actual wake-up that most of them keep."""
    return int(np.quantile(late, LATENCY_SHARE, method="higher")) if len(late) else 0


def watched(windows: Batch, gaps: Batch, length: int, latency: int) -> list[Watched]:
    """The windows of one recording, planned as long as ``length``.

    A wake-up later than ``latency`` counts as a gap at the begin of its window.
    """
    order = np.lexsort((gaps.intended_ns, gaps.sequence))
    sequence, begins, ends = (
        column[order] for column in (gaps.sequence, gaps.intended_ns, gaps.received_ns)
    )
    first = np.searchsorted(sequence, windows.sequence, side="left")
    last = np.searchsorted(sequence, windows.sequence, side="right")
    found = []
    for place in range(len(windows)):
        intended, woken = int(windows.intended_ns[place]), int(windows.received_ns[place])
        own_begins, own_ends = (column[first[place] : last[place]] for column in (begins, ends))
        begin = woken
        if woken - intended > latency:
            begin = intended
            own_begins, own_ends = (
                np.concatenate([[one], column])
                for one, column in ((intended, own_begins), (woken, own_ends))
            )
        end = max(intended + length, woken, int(own_ends[-1]) if len(own_ends) else 0)
        if end > begin:
            found.append(Watched(begin, end, own_begins, own_ends))
    return found


def in_a_row(windows: Sequence[Watched], each: int) -> list[Watched]:
    """So many windows of one recording as one; the last one may have more.

    It counts as if the core provided between the windows what it did in them. Gaps are whole all
    the same: a window ends after the gap that reaches beyond its end.
    """
    found = []
    groups = max(1, len(windows) // each) if windows else 0
    for group in range(groups):
        until = (group + 1) * each if group + 1 < groups else len(windows)
        part = windows[group * each : until]
        length, begins, ends = 0, [], []
        for one in part:
            begins.append(one.begins - one.begin + length)
            ends.append(one.ends - one.begin + length)
            length += one.length
        found.append(Watched(0, length, np.concatenate(begins), np.concatenate(ends)))
    return found


def least_rate(windows: Iterable[Watched]) -> int:
    """The share of the core in the worst window, in billionths, rounded down."""
    worst = min((one.length - one.withheld) * WHOLE // one.length for one in windows)
    return worst // STEP * STEP


def delay_for(windows: Iterable[Watched], rate: int) -> int:
    """The least delay with which this rate is nowhere above the least supply.

    For the worst stretches begin with a gap and end with one.
    """
    most = 0
    for one in windows:
        if not len(one.begins):
            continue
        # Of a machine that stood still for long, products are beyond 64 bits.
        exact = object if one.length > _FITS_NS else np.int64
        begins, ends = ((at - one.begin).astype(exact) for at in (one.begins, one.ends))
        supplied = one.supplied(one.begins).astype(exact) * WHOLE
        owed_at_begins = begins * rate - supplied
        owed_at_ends = ends * rate - supplied  # a gap provides nothing
        most = max(most, int((owed_at_ends - np.minimum.accumulate(owed_at_begins)).max()))
    return -(-most // rate)


def bounded_delay(windows: Sequence[Watched]) -> BoundedDelay | None:
    """The rate of the worst window, with its delay; None: it provided nothing.

    It holds for longer stretches, too, if each part as long as a window provides as much as the
    worst window that was seen.
    """
    rate = least_rate(windows)
    return BoundedDelay(rate, delay_for(windows, rate)) if rate > 0 else None


def least_supply(windows: Iterable[Watched], lengths: Sequence[int]) -> list[int | None]:
    """The least supply of each length; None: no window is so long.

    The supply of a stretch that slides changes only where an end of it meets that of a gap.
    """
    least: list[int | None] = [None] * len(lengths)
    for one in windows:
        for place, length in enumerate(lengths):
            if length > one.length:
                continue
            starts = np.concatenate([one.begins, one.ends - length, [one.begin]])
            starts = np.clip(starts, one.begin, one.end - length)
            got = int((one.supplied(starts + length) - one.supplied(starts)).min())
            former = least[place]
            least[place] = got if former is None else min(former, got)
    return least
