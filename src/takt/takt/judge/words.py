# SPDX-License-Identifier: Apache-2.0
"""What all writers of a verdict print: quantities, limits and figures in words."""

from __future__ import annotations

from takt.judge.model import VALUES, Growth, Judgement, Quantity, Verdict
from takt.pages.text import count, number_of
from takt.statistics.judgement import Outcome
from takt.statistics.ratios import QUANTILES

#: Quantities without a time: what a share of them may do, and the limit where none may.
_COUNTS = {
    Quantity.record: ("be lost", "no event lost"),
    Quantity.completeness: ("be missing", "all"),
    Quantity.settings: ("be refused", "all granted"),
    Quantity.skipped: ("be skipped", "none"),
    Quantity.unused: ("be unused", "all used"),
}


def quantity(one: Judgement) -> str:
    """The quantity; of a comparison with a baseline, the statistic too."""
    if one.growth is None:
        return one.quantity.value
    if one.growth.statistic == VALUES:
        return f"{one.quantity.value} in the baseline"
    return f"{one.quantity.value} {one.growth.statistic}"


def limit(one: Judgement) -> str:
    """The limit: ``5 ms``, ``5 ms, 0.1 % may exceed``, ``all``, ``1 % may be missing``."""
    if one.growth is not None:
        return _of_growth(one.growth)
    share = f"{one.allowed * 100:g} % may"
    if one.quantity in _COUNTS:
        verb, none = _COUNTS[one.quantity]
        return f"{share} {verb}" if one.allowed else none
    text = "deadline" if one.limit_us is None else milliseconds(one.limit_us)
    return f"{text}, {share} exceed" if one.allowed else text


def _of_growth(one: Growth) -> str:
    if one.statistic == VALUES:
        return "recorded"
    if one.statistic in QUANTILES:
        return f"{milliseconds(one.before)} + {(one.limit - 1) * 100:g} %"
    return f"{one.before * 100:.3g} % + {one.limit * 100:.3g} points"


def milliseconds(us: float) -> str:
    """In ms, as people compare them."""
    return f"{us / 1000:.4g} ms"


def summary(verdict: Verdict) -> str:
    """The first line: the outcome and how many limits have which."""
    failed, open_ = (len(verdict.of(one)) for one in (Outcome.fails, Outcome.undecided))
    every = number_of(len(verdict.judgements), "limit")
    parts = [f"{failed} failed"] if failed else []
    parts += [f"{open_} undecided"] if open_ else []
    if verdict.repetitions > 1:
        every += f" on {verdict.repetitions} repetitions"
    return f"{verdict.trace}: {verdict.outcome.value} ({every}{''.join(', ' + p for p in parts)})"


def needed(one: Judgement) -> str | None:
    """What it takes to decide."""
    if one.needed is None:
        return None
    if one.growth is not None:
        return f"about {count(one.needed)} repetitions on each side would decide"
    return f"about {count(one.needed)} would decide"


def worst(one: Judgement) -> str | None:
    """The longest; of a percentile: its value here."""
    if one.growth is not None and one.growth.statistic in QUANTILES and one.count:
        return milliseconds(one.growth.after)
    return None if one.worst_us is None else milliseconds(one.worst_us)


def details(one: Judgement) -> str:
    """The reason, what it takes to decide, and the jobs that decide."""
    lines = [one.reason]
    if more := needed(one):
        lines.append(more)
    lines += [
        f"job {job.job} exceeds by {milliseconds(job.over_us)}: {job.cause}" for job in one.jobs
    ]
    return "; ".join(lines)
