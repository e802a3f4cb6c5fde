# SPDX-License-Identifier: Apache-2.0
"""Two runs compared cell by cell: whether latency, late or lost samples or refused settings grew.

Ratios of percentiles and their intervals are in :mod:`takt.statistics.ratios`.
Shares of late and lost samples are in :mod:`takt.measure.statistics.compare_shares`.

Many cells are many chances of a false alarm. The intervals are therefore simultaneous
(Bonferroni over cells, percentiles and shares): for two equal runs, the probability that *any* cell
is called regressed is at most 1 - confidence, and less with a threshold above 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from takt.measure.results import reservations, scheduling
from takt.measure.results.model import Cell, Run, Status
from takt.measure.results.outcome import deadline_of
from takt.measure.results.outcome import judge as judge_side
from takt.measure.statistics import compare_shares as shares
from takt.measure.statistics.compare_disturbed import excuse
from takt.measure.statistics.compare_model import (
    Comparison,
    Judged,
    KeyComparison,
    Outcome,
)
from takt.measure.statistics.compare_samples import repetitions
from takt.measure.statistics.distribution import percentiles
from takt.statistics import Int64
from takt.statistics.growth import can_alarm, share_of
from takt.statistics.ratios import ONE_REPETITION, QUANTILES, Level, Ratio, levels, ratio
from takt.statistics.ratios import judge as judge_ratios

SEED = 20140101


def compare_runs(
    runs: tuple[Run, Run],
    folders: tuple[Path, Path],
    threshold: float = 0.10,
    confidence: float = 0.95,
    seed: int = SEED,
) -> Comparison:
    """Compare run B (second) with run A (first); both are read from their folders' samples."""
    by_key = tuple(_cells_by_key(run) for run in runs)
    pairs = {key: (a, by_key[1][key]) for key, a in by_key[0].items() if key in by_key[1]}

    def compare(pairs: Mapping[str, tuple[list[Cell], list[Cell]]]) -> list[KeyComparison]:
        return compare_cells(pairs, folders, threshold, confidence, seed)

    cells = compare(pairs)
    excuse(cells, pairs, compare)
    return Comparison(
        cells=cells,
        only_a=[key for key in by_key[0] if key not in by_key[1]],
        only_b=[key for key in by_key[1] if key not in by_key[0]],
        notes=_differences(runs),
        gone=[
            key
            for key, cells in by_key[0].items()
            if key not in by_key[1] and any(cell.count for cell in cells)
        ],
    )


def compare_cells(
    pairs: Mapping[str, tuple[list[Cell], list[Cell]]],
    folders: tuple[Path, Path],
    threshold: float = 0.10,
    confidence: float = 0.95,
    seed: int = SEED,
) -> list[KeyComparison]:
    """Compare the repetitions of the second of each pair with those of the first, all together."""
    compared = [KeyComparison(key) for key in pairs]
    estimates: list[tuple[KeyComparison, Ratio]] = []
    for number, (cell, sides) in enumerate(zip(compared, pairs.values(), strict=True)):
        rng = np.random.default_rng([seed, number])
        estimates += _estimate(cell, sides, folders, rng, threshold)
    tests = len(estimates)
    tests += sum(can_alarm(one) for cell in compared for one in cell.shares.values())
    chance = (1 - confidence) / max(1, tests)
    _judge(estimates, threshold, chance)
    for cell, sides in zip(compared, pairs.values(), strict=True):
        shares.judge(cell, chance)
        shares.judge_settings(cell, sides)
        shares.judge_completion(cell, sides, chance)
    return compared


def _cells_by_key(run: Run) -> dict[str, list[Cell]]:
    found: dict[str, list[Cell]] = defaultdict(list)
    for cell in run.cells:
        found[cell.key].append(cell)
    return dict(found)


def _differences(runs: tuple[Run, Run]) -> list[str]:
    """Say what makes two runs hard to compare."""
    a, b = runs
    notes = [
        f"{what} {name} differs: {first.get(name, 'absent')} in A, "
        f"{second.get(name, 'absent')} in B"
        for what, first, second in (
            ("machine:", a.machine, b.machine),
            ("version:", a.versions, b.versions),
        )
        for name in sorted({*first, *second})
        if isinstance(first.get(name, ""), str | int | bool)
        and isinstance(second.get(name, ""), str | int | bool)
        and first.get(name) != second.get(name)
    ]
    notes += [
        f"run {letter} is {run.status.value}, not complete"
        for letter, run in (("A", a), ("B", b))
        if run.status is not Status.complete
    ]
    return notes


def _estimate(
    cell: KeyComparison,
    sides: tuple[list[Cell], list[Cell]],
    folders: tuple[Path, Path],
    rng: np.random.Generator,
    threshold: float,
) -> list[tuple[KeyComparison, Ratio]]:
    deadlines = {one.deadline_us for side in sides for one in side}
    if len(deadlines) > 1:
        cell.notes.append("deadlines differ: late responses of both are those after A's deadline")
    a, b = (
        repetitions(cell, letter, cells, folder, sides[0][0].deadline_us)
        for letter, cells, folder in zip("AB", sides, folders, strict=True)
    )
    judged = deadline_of(sides[0][0]) is not None
    for name in shares.EVENTS if judged else ["lost"]:
        counted = [[getattr(one, name) for one in side] for side in (a, b)]
        if found := share_of(counted[0], counted[1], threshold):
            cell.shares[name] = found
    a, b = ([one for one in side if len(one.latency_ns)] for side in (a, b))
    cell.lost = (sum(c.lost for c in sides[0]), sum(c.lost for c in sides[1]))
    cell.absent = (_absent(sides[0]), _absent(sides[1]))
    cell.sides = (judge_side(sides[0]).outcome, judge_side(sides[1]).outcome)
    cell.otherwise = _granted(sides[0]) != _granted(sides[1])
    cell.notes += _not_granted(sides)
    cell.repetitions = (len(a), len(b))
    if a and not b:
        reason = "measured in A, but B has no sample of it: this counts as a regression"
        cell.notes.append(reason)
        cell.judge(Judged("samples", Outcome.regressed, reason))
    elif not a:
        where = "A has" if b else "both runs have"
        cell.judge(Judged("samples", Outcome.undecided, f"{where} no samples"))
    if not a or not b:
        return []
    measured = [
        [(len(one.latency_ns), _percentiles(one.latency_ns, rng)) for one in side]
        for side in (a, b)
    ]
    estimates: list[tuple[KeyComparison, Ratio]] = []
    for name, (_, needed) in QUANTILES.items():
        enough = [[found for count, found in side if count >= needed] for side in measured]
        ended_early = any(one.status is not Status.complete for one in sides[1])
        if not _can_be_judged(cell, name, enough, measured, ended_early):
            continue
        before, after = ([one[name] for one in side] for side in enough)
        estimates.append((cell, ratio(name, before, after, max(cell.repetitions))))
    return estimates


def _not_granted(sides: tuple[list[Cell], list[Cell]]) -> list[str]:
    """Where what was compared did not run under what was asked for."""
    if not any(scheduling.refused(one) for side in sides for one in side):
        return []
    a, b = map(_granted, sides)
    asked = scheduling.requested(next(one for side in sides for one in side))
    if a == b:
        return [f"{asked} was requested; {a} was granted in both runs"]
    return [f"granted policies differ: {a} in A, {b} in B; requested: {asked}"]


def _granted(side: list[Cell]) -> str:
    return scheduling.granted_in_words(side) or "nothing"


def _absent(side: list[Cell]) -> int:
    return sum(map(reservations.absent, side))


def _can_be_judged(
    cell: KeyComparison,
    name: str,
    enough: Sequence[Sequence[object]],
    measured: Sequence[Sequence[tuple[int, object]]],
    ended_early: bool,
) -> bool:
    """Whether both sides have repetitions long enough for a percentile; says which are left out.

    Where A has some and B has none, because it ``ended_early``, that must not be green.
    """
    needed = QUANTILES[name][1]
    for letter, side in zip("AB", measured, strict=True):
        if short := [count for count, _ in side if count < needed]:
            cell.notes.append(
                f"{name} needs {needed} samples in each repetition: {len(short)} of "
                f"{len(side)} of {letter} have fewer ({', '.join(map(str, short))}) and "
                "are excluded"
            )
    if enough[0] and not enough[1] and ended_early:
        reason = (
            f"A has a {name}, but every repetition of B is too short and some are "
            "incomplete: this counts as a regression"
        )
        cell.notes.append(reason)
        cell.judge(Judged(name, Outcome.regressed, reason))
    elif not enough[0] or not enough[1]:
        reason = f"{name} needs {needed} samples in each repetition: make repetitions longer"
        cell.judge(Judged(name, Outcome.undecided, reason))
    if len(enough[0]) == len(enough[1]) == 1 and ONE_REPETITION not in cell.notes:
        cell.notes.append(ONE_REPETITION)
    return bool(enough[0] and enough[1])


def _percentiles(values: Int64, rng: np.random.Generator) -> dict[str, Level]:
    """Give each percentile in ns with the standard error of its logarithm."""
    found = percentiles(values)
    return levels(values, {"p50": found.p50_us * 1000, "p99": found.p99_us * 1000}, rng)


def _judge(
    estimates: Sequence[tuple[KeyComparison, Ratio]], threshold: float, chance: float
) -> None:
    """Give every ratio its interval, and say which cells regressed."""
    grown = judge_ratios([one for _, one in estimates], threshold, chance)
    for (cell, one), found in zip(estimates, grown, strict=True):
        cell.changes[one.name] = change = found.shift
        reason = f"B/A {change.ratio:.3f}, interval {change.low:.3f} … {change.high:.3f}, "
        reason += f"limit {1 + threshold:g}"
        cell.judge(Judged(one.name, found.outcome, reason, found.needed))
