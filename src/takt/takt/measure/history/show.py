# SPDX-License-Identifier: Apache-2.0
"""The history for people, on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from takt.measure.history import machines
from takt.measure.history.accumulate import Accumulated
from takt.pages import text
from takt.pages.row_table import of_cells
from takt.statistics.judgement import ALLOWED, CONFIDENCE
from takt.statistics.tails import Refusal

_HEADINGS = (
    *("configuration (µs)", "runs", "samples", "absent", "p50", "p99.9", "max"),
    *("late", "outcome"),
)


def show(console: Console, configurations: Sequence[Accumulated]) -> None:
    """Prints one row a configuration, a block for each machine; then what several machines have."""
    for machine in dict.fromkeys(one.configuration.machine for one in configurations):
        rows = [
            (
                one.configuration.key,
                text.count(len(one.runs)),
                text.count(one.count),
                text.count(one.lost),
                f"{one.percentiles_us['p50_us']:.0f}",
                f"{one.percentiles_us['p999_us']:.0f}",
                text.microseconds(one.max_us),
                "–" if one.described else text.count(one.exceedance.exceeded),
                one.decision.outcome.value,
            )
            for one in configurations
            if one.configuration.machine == machine
        ]
        console.print(of_cells(_HEADINGS, rows, title=machine))
    for point in machines.compared(configurations):
        title = f"{point.key} on several machines (latency in µs; late: responses)"
        console.print(
            of_cells(
                machines.HEADINGS, [*map(machines.cells, point.rows)], words=("stack",), title=title
            )
        )
    times = Counter(one.configuration.key for one in configurations)
    for one in configurations:
        name = one.configuration.key
        if times[name] > 1:
            name += f" on {one.configuration.machine}"
        for line in sentences(one):
            console.print(f"{name}: {line}", markup=False, soft_wrap=True)


def sentences(one: Accumulated) -> list[str]:
    """What is known of the deadline, and what the fitted tail says of what was never seen."""
    found, deadline = one.exceedance, text.duration(one.exceedance.deadline_us)
    bound = f"at most {found.upper_bound:.2g} with {found.confidence:.0%} confidence"
    of = f"{text.count(found.count)} ({one.of})"
    misses = f"{text.count(found.exceeded)} of {of} reached {deadline}"
    lines = [f"{misses}; the probability is {bound}", judged(one)]
    if one.described:
        lines = [f"{one.decision.outcome.value}: described, not judged: a supply has no deadline"]
    if isinstance(one.tail, Refusal):
        lines.append(f"no estimate beyond the observed values: {one.tail.reason}")
        return lines
    words = f"fitted tail above {one.tail.threshold_us:g} µs (p = {one.tail.p_value:.2g})"
    levels = ", ".join(
        f"{rare:g} at {text.duration(one.tail.level(rare))}" for rare in one.rare(one.tail)
    )
    estimate = one.estimate()
    if estimate is not None:
        words += f": probability of reaching {deadline} ({one.measured}): {estimate:.2g}"
    lines.append(f"{words}; {levels}")
    return lines


def judged(one: Accumulated) -> str:
    """The outcome against the deadline, with the interval that decided; absent ones are late."""
    decision, late = one.decision, one.exceedance.exceeded + one.lost
    words = f"{decision.outcome.value}: {text.count(late)} of "
    words += f"{text.count(one.exceedance.count + one.lost)} late or missing"
    if one.lost:
        words += f" ({text.count(one.lost)} missing, excluded from all other figures)"
    if one.excused:
        words += f", {text.count(one.excused)} of them disturbed"
    words += f"; the share is {decision.low:.2g} to {decision.high:.2g}"
    words += f" with {CONFIDENCE:.0%} confidence each, {ALLOWED:g} allowed"
    if decision.needed is not None:
        words += f"; about {text.count(decision.needed)} responses decide"
    return words
