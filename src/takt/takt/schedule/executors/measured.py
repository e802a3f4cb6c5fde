# SPDX-License-Identifier: Apache-2.0
"""Executes an application under each executor on this machine, and says what was found.

The executors take turns, in a random order that is another one in each round. Ctrl-C ends it, and
what was executed until then counts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from takt.errors import TaktError
from takt.processes.scratch import temporary
from takt.processes.signals import stopping
from takt.processes.supervision import Stop
from takt.schedule.execution.execute import execute
from takt.schedule.execution.model import RCLCPP
from takt.schedule.executors.model import Candidate, Comparison, Figures, Measured
from takt.schedule.metrics import Metrics, measure
from takt.schedule.metrics.model import Spread

Flat = dict[str, Any]
ROUNDS = 3
SEED = 1
NAMED = 3  # callbacks and chains in a sentence
STOPPED = "the measurement was stopped"


def with_measured(
    comparison: Comparison,
    documents: Sequence[Flat],
    seconds: float,
    progress: Callable[[str, float], object] = lambda _name, _share: None,
) -> Comparison:
    """The comparison with what each candidate did here; ``documents`` are theirs, in their order.

    Each is executed ROUNDS times for so many seconds. One that cannot be executed says why.
    """
    stop = Stop()
    with stopping(stop):
        runs, failed = _executed(comparison.candidates, documents, seconds, progress, stop)
    able = [
        len(runs[place])
        for place, one in enumerate(comparison.candidates)
        if one.refused is None and failed.get(place, STOPPED) == STOPPED
    ]
    counted = any(one.get("overheads") for one in documents)
    candidates = [
        one.model_copy(
            update={
                "callbacks": [_callback(each, runs[place]) for each in one.callbacks],
                "chains": [_chain(each, runs[place]) for each in one.chains],
                "not_measured": failed.get(place, ""),
            }
        )
        for place, one in enumerate(comparison.candidates)
    ]
    return comparison.model_copy(
        update={
            "candidates": candidates,
            "measured_s": seconds,
            "rounds": max(able, default=0) if stop.requested else ROUNDS,
            "findings": [
                *([_stopped(able)] if stop.requested else []),
                *findings(candidates, overheads=counted),
            ],
        }
    )


def _executed(
    candidates: Sequence[Candidate],
    documents: Sequence[Flat],
    seconds: float,
    progress: Callable[[str, float], object],
    stop: Stop,
) -> tuple[dict[int, list[Metrics]], dict[int, str]]:
    runs: dict[int, list[Metrics]] = {place: [] for place in range(len(candidates))}
    failed: dict[int, str] = {}
    able = [place for place, one in enumerate(candidates) if one.refused is None]
    done = 0
    for number in range(ROUNDS):
        order = [place for place in able if place not in failed]
        random.Random(SEED + number).shuffle(order)  # noqa: S311 - an order, no secret
        for place in order:
            if stop.requested:
                break
            progress(candidates[place].name, done / (len(able) * ROUNDS))
            done += 1
            try:
                run = _once(candidates[place], documents[place], seconds, number + 1, stop)
            except TaktError as error:
                failed[place] = error.what
                runs[place] = []
            else:
                runs[place] += [run] if run else []
    if stop.requested:
        failed = {one: STOPPED for one in able if not runs[one]} | failed
    return runs, failed


def _stopped(executions: Sequence[int]) -> str:
    complete = min(executions, default=0)
    beyond = sum(one > complete for one in executions)
    return (
        f"stopped: {complete} of {ROUNDS} rounds are complete"
        + f"; {beyond} of {len(executions)} executors were executed once more" * (beyond > 0)
    )


def _once(
    candidate: Candidate, document: Flat, seconds: float, seed: int, stop: Stop
) -> Metrics | None:
    """None if it was stopped. Raises TaktError, Failure among them, where it did not work out."""
    approach = candidate.executor if candidate.executor in RCLCPP else "takt"
    if document.get("processes"):
        approach = "takt"
    with temporary() as scratch:
        done = execute(
            document,
            approach,
            trace=scratch / "execution" / "compared.takttrace",
            duration_s=seconds,
            seed=seed,
            stop=stop,
        )
        return measure(done.trace) if done.status == "complete" else None


def _callback(one: Figures, runs: Sequence[Metrics]) -> Figures:
    found = [each for run in runs for each in run.callbacks if each.callback == one.name]
    spreads = [each.response_us for each in found if each.response_us is not None]
    return _with(one, spreads, sum(each.misses for each in found))


def _chain(one: Figures, runs: Sequence[Metrics]) -> Figures:
    found = [each for run in runs for each in run.chains if each.chain == one.name]
    spreads = [each.latency_us for each in found if each.latency_us is not None]
    return _with(one, spreads, sum(each.violations for each in found))


def _with(one: Figures, spreads: Sequence[Spread], above: int) -> Figures:
    if not spreads:
        return one
    measured = Measured(
        p50_us=median(each.median for each in spreads),
        p99_us=median(each.p99 for each in spreads),
        max_us=max(each.max for each in spreads),
        above=above,
        count=sum(each.count for each in spreads),
        p99_of_rounds_us=[each.p99 for each in spreads],
    )
    return one.model_copy(update={"measured": measured})


def findings(candidates: Sequence[Candidate], *, overheads: bool) -> Iterator[str]:
    """What the measurement says of the executors, in words; whether bounds count overheads."""
    there = [one for one in candidates if any(_measured(one))]
    for one in there:
        bounded = [each for each in _measured(one) if each.bound_us is not None]
        beyond = [each.name for each in bounded if _beyond(each)]
        above = sum(each.measured.above for each in _measured(one) if each.measured)
        names = ", ".join([*beyond[:NAMED], *["…"][: len(beyond) > NAMED]])
        exceeded = f"{len(beyond)} of {len(bounded)} bounds exceeded"
        yield f"{one.name}: {exceeded}{f' ({names})' if names else ''}; {above} above their limits"
    if there and not overheads:
        yield "the bounds count no overheads: name a trace or figures under overheads in the file"
    for name in dict.fromkeys(chain.name for one in there for chain in one.chains):
        chains = {one.name: each for one in there for each in one.chains if each.name == name}
        yield from _ranked(name, chains)


def _ranked(chain: str, by: Mapping[str, Figures]) -> Iterator[str]:
    """The executor whose p99 is lowest, and those that are above it in every round."""
    known = {name: one.measured for name, one in by.items() if one.measured}
    if len(known) < 2:
        return
    best = min(known, key=lambda name: known[name].p99_us)
    highest = max(known[best].p99_of_rounds_us)
    slower = [
        name
        for name, one in sorted(known.items(), key=lambda item: item[1].p99_us)
        if name != best and len(one.p99_of_rounds_us) > 1 and min(one.p99_of_rounds_us) > highest
    ]
    words = f"{chain}: the lowest p99 under {best} ({_words(known[best].p99_us)})"
    rest = len(known) - 1 - len(slower)
    if slower:
        each = ", ".join(f"{name} {_words(known[name].p99_us)}" for name in slower)
        words += f"; above it in every round: {each}"
    yield words + (f"; {rest} not shown to differ from it" if rest else "")


def _beyond(one: Figures) -> bool:
    return bool(one.measured and one.bound_us is not None and one.measured.max_us > one.bound_us)


def _measured(one: Candidate) -> list[Figures]:
    return [each for each in [*one.callbacks, *one.chains] if each.measured is not None]


def _words(time_us: float) -> str:
    return f"{time_us / 1000:.4g} ms" if time_us >= 1000 else f"{time_us:.4g} µs"
