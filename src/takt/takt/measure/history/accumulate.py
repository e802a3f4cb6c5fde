# SPDX-License-Identifier: Apache-2.0
"""All runs of one configuration as one: numbers that add up, and what they say of a deadline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import floor, sqrt
from typing import Any

import numpy as np

from takt.measure.history.store import Configuration, Entry
from takt.measure.results import histogram
from takt.measure.results.model import Exceedance
from takt.measure.results.point import BY_JITTER, SUPPLY
from takt.measure.statistics.distribution import PERCENTILES
from takt.measure.statistics.summary import exceedance
from takt.pages.pictures import Counts
from takt.statistics import Int64
from takt.statistics.judgement import ALLOWED, CONFIDENCE, Decision, Outcome, decide
from takt.statistics.tails import Refusal, Tail, fit

RESPONSE = "response"
SINCE_DUE = ("wakeup", "timer-oneshot")  # kinds whose latency is their response
_OF_TAIL = ("threshold_us", "peaks", "count", "shape", "scale_us", "p_value")
RARE = tuple(10.0**-power for power in range(2, 13))


@dataclass(frozen=True)
class Accumulated:
    """One configuration, all runs together. Percentiles are whole µs, rounded down."""

    configuration: Configuration
    kind: str
    stack: str
    lost: int
    count: int
    min_us: float
    mean_us: float
    stddev_us: float
    max_us: float
    percentiles_us: dict[str, float]
    exceedance: Exceedance
    decision: Decision  # whether the deadline is met; absent responses are late
    excused: int  # late or absent ones that a disturbance may have made
    of: str  # what exceeds it: the response, or what the histograms are of
    described: bool  # a supply: how late its windows begin is judged by no deadline
    tail: Tail | Refusal
    runs: list[Counts]  # one histogram a run, the oldest first

    @property
    def measured(self) -> str:
        """What the histograms, the percentiles and the tail are of."""
        return _measured(self.kind)

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        found = self.tail
        tail: dict[str, Any] = {"refused": found.reason} if isinstance(found, Refusal) else {}
        if isinstance(found, Tail):
            tail = {name: getattr(found, name) for name in _OF_TAIL} | {
                "levels_us": {f"{rare:g}": found.level(rare) for rare in self.rare(found)},
                "exceedance_of_deadline": self.estimate(),
            }
        return {
            "key": self.configuration.key,
            "machine": self.configuration.machine,
            "runs": len(self.runs),
            "lost": self.lost,
            "count": self.count,
            "min_us": self.min_us,
            "mean_us": round(self.mean_us, 6),
            "stddev_us": round(self.stddev_us, 6),
            **self.percentiles_us,
            "max_us": self.max_us,
            "measured": self.measured,
            "exceedance": {"of": self.of, **self.exceedance.model_dump()},
            "outcome": self.decision.outcome.value,
            "judged": {
                "late": self.exceedance.exceeded,
                "absent": self.lost,
                "excused": self.excused,
                "count": self.exceedance.count + self.lost,
                "allowed": ALLOWED,
                "low": round(self.decision.low, 9),
                "high": round(self.decision.high, 9),
                "confidence": CONFIDENCE,
                "needed": self.decision.needed,
            },
            "tail": tail,
        }

    def rare(self, tail: Tail) -> list[float]:
        """The probabilities whose levels the fit may say: in the tail, and not too rare."""
        return [rare for rare in RARE if tail.rarest <= rare < tail.peaks / tail.count][-3:]

    def estimate(self) -> float | None:
        """The fitted probability of exceeding the deadline, or the rarest one that may be said.

        None where the deadline does not lie in the tail.
        """
        found, deadline = self.tail, self.exceedance.deadline_us
        if isinstance(found, Refusal) or deadline < found.threshold_us:
            return None
        return max(found.exceedance(deadline), found.rarest)


def accumulate(
    configuration: Configuration, entries: Iterable[Entry], deadline_us: float | None = None
) -> Accumulated:
    """Puts the runs of a configuration together; without a deadline, that of the latest counts.

    A deadline is one on the response. How many exceeded it, each run has counted for its own. For
    another one, or where a store of before does not know, the histograms are asked, which may be of
    another quantity (``of``); then a value counts that lies above by as little as its µs tells.
    """
    runs: list[Counts] = []
    count = lost = exceeded = responses = excused = 0
    granted = True
    deadlines: set[float | None] = set()
    total = squares = 0.0
    low, high = float("inf"), float("-inf")
    last: Entry | None = None
    for entry in entries:
        last = entry
        runs.append(Counts(entry.started[:16].replace("T", " "), *entry.bins))
        count += entry.count
        lost += entry.lost
        exceeded += entry.exceeded or 0
        responses += entry.responses or 0
        excused += entry.excused or 0
        granted &= entry.granted != 0
        deadlines.add(None if entry.exceeded is None else entry.deadline_us)
        total += entry.count * entry.mean_us
        squares += entry.count * (entry.stddev_us**2 + entry.mean_us**2)
        low, high = min(low, entry.min_us), max(high, entry.max_us)
    if last is None:
        raise ValueError("a configuration without runs")
    mean = total / count
    deadline = deadline_us or last.deadline_us
    values, counts = histogram.merged([(run.value_us, run.count) for run in runs])
    of = RESPONSE
    if deadlines != {deadline}:
        of = _measured(last.kind)
        exceeded, responses = int(counts[values >= floor(deadline)].sum()), count
    late = exceeded + lost
    decision = decide(late, min(late, excused), responses + lost)
    described = last.kind == SUPPLY and deadline_us is None
    if described:  # as the outcome of its runs: it has no deadline
        decision = Decision(Outcome.undecided if lost else Outcome.meets)
    if not granted and decision.outcome is Outcome.meets:  # another question was answered
        decision = replace(decision, outcome=Outcome.undecided)
    return Accumulated(
        configuration=configuration,
        kind=last.kind,
        stack=last.stack,
        lost=lost,
        count=count,
        min_us=low,
        mean_us=mean,
        stddev_us=sqrt(max(0.0, squares / count - mean**2)),
        max_us=high,
        percentiles_us=_percentiles(values, counts),
        exceedance=exceedance(deadline, exceeded, responses),
        decision=decision,
        excused=min(late, excused),
        of=of,
        described=described,
        tail=fit(values, counts),
        runs=runs,
    )


def _measured(kind: str) -> str:
    if kind in BY_JITTER:
        return "jitter"
    return RESPONSE if kind in SINCE_DUE else "latency"


def _percentiles(values: Int64, counts: Int64) -> dict[str, float]:
    """By nearest rank, as the core's histogram does."""
    below = np.cumsum(counts)
    ranks = {name: np.ceil(percent / 100 * below[-1]) for name, percent in PERCENTILES.items()}
    return {name: float(values[int(np.searchsorted(below, rank))]) for name, rank in ranks.items()}
