# SPDX-License-Identifier: Apache-2.0
"""CPU time for each executed callback, against the wait-set executor in the same code base."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from takt.bench import overhead, programs
from takt.bench.model import Bar, Bench, interleaved, median, median_ratio

CALLBACKS = (1, 10, 50, 200)
DURATION_MS = 300  # thirty releases of each timer; what is compared runs in the same round
NEVER_ABOVE = 1.0
WITH_SUBSCRIPTIONS = 0.6  # with the most callbacks, as Takt delivers unless told otherwise
GROWTH = 1.2  # of pure dispatch from 50 to 200 callbacks
FIGURE = "cpu_us_per_callback"


@dataclass(frozen=True)
class Case:
    """One application and the executor that runs it."""

    callbacks: int
    subscriptions: bool = False
    priorities: int = 1
    spread: bool = False
    by_pointer: bool = False  # Takt's own delivery; else through the middleware, as baseline0's
    executor: str = "takt"

    @property
    def baseline(self) -> Case:
        """The same application under baseline0, which has neither priorities nor pointers."""
        return replace(self, executor="baseline0", priorities=1, by_pointer=False)

    def __str__(self) -> str:
        words = [self.executor, f"{self.callbacks} timer{'s' * (self.callbacks > 1)}"]
        if self.subscriptions:
            words[1] = f"{self.callbacks} callbacks, half of them subscriptions"
            words += ["by pointer"] if self.by_pointer else []
        words += [f"{self.priorities} priorities"] if self.priorities > 1 else []
        return ", ".join([*words, "spread" if self.spread else "aligned"])


def cases() -> Iterator[Case]:
    """What is compared."""
    yield Case(1)
    for callbacks in CALLBACKS[1:]:
        for spread in (False, True):
            for priorities in (1, 10):
                yield Case(callbacks, False, priorities, spread)
                yield Case(callbacks, True, priorities, spread)
                yield Case(callbacks, True, priorities, spread, by_pointer=True)


def dispatch(rounds: int, cpu: int, progress: Callable[[str], None]) -> Bench:
    """Never above baseline0, and at most 0.6 of it for 200 callbacks with subscriptions.

    The latter by pointer: through the middleware both spend nearly all of their time in it.
    """
    compared = list(cases())
    every = list(dict.fromkeys([*compared, *(case.baseline for case in compared)]))
    measured = interleaved(
        {str(case): partial(_measure, case, cpu) for case in every}, rounds, 1, progress
    )
    bars = [_against_baseline(case, measured) for case in compared]
    many, fewer = (measured[str(Case(callbacks))] for callbacks in (CALLBACKS[-1], CALLBACKS[-2]))
    bars.append(
        Bar(
            name=f"pure dispatch of {CALLBACKS[-1]} aligned timers against {CALLBACKS[-2]}",
            value=median_ratio(many, fewer, FIGURE),
            limit=GROWTH,
            unit="ratio",
            detail={"us": median(many, FIGURE), "us_of_fewer": median(fewer, FIGURE)},
        )
    )
    notes = [
        f"{name}: executed {median(figures, 'executed_share'):.0%} of its callbacks"
        for name, figures in measured.items()
        if median(figures, "executed_share") < 0.98
    ]
    tables = overhead.tables(rounds, cpu, progress)
    return Bench(bench="dispatch", rounds=rounds, bars=bars, tables=tables, notes=notes)


def _measure(case: Case, cpu: int) -> dict[str, float]:
    answer = programs.figures(
        "bench_rcl_executor",
        "dispatch",
        executor=case.executor,
        callbacks=case.callbacks,
        subscriptions=case.subscriptions,
        priorities=case.priorities,
        spread=case.spread,
        by_pointer=case.by_pointer,
        duration_ms=DURATION_MS,
        cpu=cpu,
    )
    return {name: float(answer[name]) for name in (FIGURE, "executed_share")}


def _against_baseline(case: Case, measured: dict[str, list[dict[str, float]]]) -> Bar:
    takt, baseline = measured[str(case)], measured[str(case.baseline)]
    strict = case.by_pointer and case.callbacks == CALLBACKS[-1]
    return Bar(
        name=f"CPU for each callback, {case}, against baseline0".replace("takt, ", ""),
        value=median_ratio(takt, baseline, FIGURE),
        limit=WITH_SUBSCRIPTIONS if strict else NEVER_ABOVE,
        unit="ratio",
        detail={"takt_us": median(takt, FIGURE), "baseline0_us": median(baseline, FIGURE)},
    )
