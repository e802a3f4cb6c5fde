# SPDX-License-Identifier: Apache-2.0
"""In which findings several reproductions differ, and in which figures of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from takt.reproduce import page
from takt.reproduce.beside.model import Compared, Value
from takt.reproduce.model import Finding, Outcome


def compared(runs: Sequence[tuple[str, Outcome]]) -> list[Compared]:
    """Every finding of every run, in their order; contradictions first, then other differences."""
    keys = dict.fromkeys((one.id, one.stack) for _, run in runs for one in run.findings)
    differences = [_of(key, runs) for key in keys]
    return sorted(differences, key=lambda one: (not one.apart, not one.differing))


def _of(key: tuple[str, str], runs: Sequence[tuple[str, Outcome]]) -> Compared:
    there = {name: one for name, run in runs for one in run.findings if (one.id, one.stack) == key}
    first = next(iter(there.values()))
    figures = dict.fromkeys(figure for one in there.values() for figure in one.measured)
    measured = {
        figure: {name: _value(one, figure) for name, one in there.items() if figure in one.measured}
        for figure in figures
    }
    return Compared(
        id=first.id,
        stack=first.stack,
        claim=first.claim,
        at=first.at,
        verdicts={
            name: page.verdict(there[name]) if name in there else "not measured" for name, _ in runs
        },
        measured=measured,
        differing=[name for name, values in measured.items() if _apart(list(values.values()))],
    )


def _value(one: Finding, figure: str) -> Value:
    low, high = one.intervals.get(figure, (None, None))
    return Value(value=one.measured[figure], low=low, high=high)


def _apart(values: Sequence[Value]) -> bool:
    """Whether two intervals do not overlap."""
    known = [(one.low, one.high) for one in values if one.low is not None and one.high is not None]
    return any(
        one[1] < other[0] or other[1] < one[0] for one, other in itertools.combinations(known, 2)
    )
