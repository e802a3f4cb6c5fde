# SPDX-License-Identifier: Apache-2.0
"""What a comparison with a baseline needs of one repetition of a series."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from takt.judge.model import Quantity
from takt.judge.wrong import wrong
from takt.statistics import Int64
from takt.statistics.bootstrap import correlation_time
from takt.statistics.ratios import QUANTILES, Level, levels
from takt.statistics.shares import Counted

SIMULATOR = "simulator"
SEED = 20140101
Key = tuple[str, Quantity]  # subject and quantity


@dataclass(frozen=True)
class Repetition:
    """One recording of a series."""

    count: int  # values
    max_us: float | None
    levels: Mapping[str, Level]  # by name in QUANTILES, in ns; without those with too few values
    late: Counted  # 0 of 0 without a limit
    limit_us: float | None
    # The same without the most values and events that stolen time may have caused; None: none.
    undisturbed: Repetition | None = None


@dataclass(frozen=True)
class Side:
    """All repetitions of a baseline, or of what is compared with it."""

    source: str  # executor, simulator or run
    repetitions: int
    series: Mapping[Key, list[Repetition]]
    whole: bool = True  # whether each recording holds everything that happened


def repetition(
    values: Int64,
    limit: int | None,
    *,
    exact: bool = False,
    excused: int = 0,
    calm: Int64 | None = None,
) -> Repetition:
    """Of values in ns in recorded order; ``limit``: in ns, for the share of late ones.

    ``exact``: of a simulation, which another one repeats to the nanosecond: without a standard
    error, and with any number of values. ``excused``: the most values that a disturbance may have
    made as long as they are; ``calm``: the values without what a disturbance took of each.
    """
    rest = values if calm is None else calm
    if excused and len(rest):
        kept = np.argsort(rest, kind="stable")[: max(0, len(rest) - excused)]
        rest = rest[np.sort(kept)]
    positive = np.maximum(values, 1)
    at = {
        name: round(float(np.quantile(positive, share)), 3)
        for name, (share, needed) in QUANTILES.items()
        if len(values) >= (1 if exact else needed)
    }
    if exact:
        found = {name: Level(value, 0.0) for name, value in at.items()}
    else:
        found = levels(positive, at, np.random.default_rng(SEED)) if at else {}
    return Repetition(
        count=len(values),
        max_us=float(values.max()) / 1000 if len(values) else None,
        levels=found,
        late=_late(values, limit),
        limit_us=None if limit is None else limit / 1000,
        undisturbed=None if rest is values else repetition(rest, limit, exact=exact),
    )


def events(hits: int, count: int, excused: int = 0) -> Repetition:
    """Events of which only the number is known, as skipped releases."""
    fewer = events(max(0, hits - excused), count) if excused and hits else None
    return Repetition(count, None, {}, Counted(hits, count), None, fewer)


def share(values: Int64, limit: int, excused: int = 0) -> Repetition:
    """Only the share of values that are late."""
    late = _late(values, limit)
    fewer = replace(late, hits=max(0, late.hits - excused))
    worst = float(values.max()) / 1000 if len(values) else None
    found = Repetition(len(values), worst, {}, late, limit / 1000)
    return replace(found, undisturbed=replace(found, late=fewer)) if excused else found


NOTHING = Repetition(0, None, {}, Counted(0, 0), None)


def _late(values: Int64, limit: int | None) -> Counted:
    if limit is None:
        return Counted(0, 0)
    late = values > limit
    # Late values come in bursts, each of which is one observation.
    correlation = correlation_time(late.astype(np.float64)) if late.any() else 1.0
    return Counted(int(late.sum()), len(late), correlation)


def merged(sides: Sequence[Side]) -> Side:
    """The repetitions of several recordings together; raises TaktError for different kinds."""
    first = sides[0]
    series: dict[Key, list[Repetition]] = defaultdict(list)
    for one in sides:
        if one.source != first.source:
            raise wrong(
                f"recorded by {first.source} and by {one.source}",
                "a baseline",
                "write one baseline for each kind of recording",
            )
        if differing := sorted(first.series.keys() ^ one.series.keys()):
            raise wrong(
                f"not repetitions of one application: {differing[0][0]}, {differing[0][1].value} "
                "is in some recordings only",
                "a baseline",
                "write one baseline for each application",
            )
        for key, found in one.series.items():
            series[key] += found
    return Side(first.source, sum(one.repetitions for one in sides), dict(series))
