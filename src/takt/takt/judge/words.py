# SPDX-License-Identifier: Apache-2.0
"""What all writers of a verdict print: quantities, limits and figures in words."""

from __future__ import annotations

from takt.judge.model import Judgement, Quantity, Verdict
from takt.pages.text import number_of
from takt.schedule.absence.model import Outcome


def limit(one: Judgement) -> str:
    """The limit: ``5 ms``, ``5 ms, 0.1 % may exceed``, ``all``, ``1 % may be missing``."""
    if one.quantity is Quantity.record:
        return "no event lost"
    share = f"{one.allowed * 100:g} % may"
    if one.quantity is Quantity.completeness:
        return f"{share} be missing" if one.allowed else "all"
    if one.quantity is Quantity.skipped:
        return f"{share} be skipped" if one.allowed else "none"
    text = "deadline" if one.limit_us is None else milliseconds(one.limit_us)
    return f"{text}, {share} exceed" if one.allowed else text


def milliseconds(us: float) -> str:
    """In ms, as people compare them."""
    return f"{us / 1000:.4g} ms"


def summary(verdict: Verdict) -> str:
    """The first line: the outcome and how many limits have which."""
    failed, open_ = (len(verdict.of(one)) for one in (Outcome.fails, Outcome.undecided))
    every = number_of(len(verdict.judgements), "limit")
    parts = [f"{failed} failed"] if failed else []
    parts += [f"{open_} undecided"] if open_ else []
    return f"{verdict.trace}: {verdict.outcome.value} ({every}{''.join(', ' + p for p in parts)})"


def needed(one: Judgement) -> str | None:
    """What it takes to decide."""
    return None if one.needed is None else f"about {one.needed:,} would decide"


def details(one: Judgement) -> str:
    """The reason, what it takes to decide, and the jobs that decide."""
    lines = [one.reason]
    if more := needed(one):
        lines.append(more)
    lines += [
        f"job {job.job} exceeds by {milliseconds(job.over_us)}: {job.cause}" for job in one.jobs
    ]
    return "; ".join(lines)
