# SPDX-License-Identifier: Apache-2.0
"""Two runs compared cell by cell: whether median or 99th percentile of latency grew.

A ratio is that of the geometric means of the repetitions' percentiles: a repetition counts once,
however many samples it has, because what changes between repetitions (memory layout, neighbours,
frequency) hits all of its samples alike. Its interval is the wider of two:

* over repetitions: Student's t on the logarithms, with variances steadied over the cells
  (:mod:`takt.statistics.moderation`);
* within repetitions: the moving-block bootstrap (:mod:`takt.statistics.bootstrap`), all
  that there is where both runs have one repetition only.

Many cells are many chances of a false alarm. The intervals are therefore simultaneous
(Bonferroni over cells and percentiles): for two equal runs, the probability that *any* cell is
called regressed is at most 1 - confidence, and less with a threshold above 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.stats import norm, t

from takt.measure.results import obtained, reservations
from takt.measure.results.model import Cell, Run, Status
from takt.measure.statistics.distribution import percentiles
from takt.measure.statistics.series import joined, read_series
from takt.statistics import Int64
from takt.statistics.bootstrap import standard_errors
from takt.statistics.moderation import moderated

#: Name, share, and how many samples a repetition needs for a say about it.
QUANTILES = {"p50": (0.5, 20), "p99": (0.99, 500)}
SEED = 20140101
ALONE = (
    "only one repetition each: the variation between repetitions is unknown and the "
    "interval too narrow; measure at least 3 repetitions"
)


@dataclass(frozen=True)
class Shift:
    """How one percentile changed from A to B."""

    ratio: float
    low: float
    high: float  # infinite where so few repetitions tell nothing at such a confidence


@dataclass
class KeyComparison:
    """What is known of one key in both runs."""

    key: str
    changes: dict[str, Shift] = field(default_factory=dict)  # by name in QUANTILES
    regressed: bool = False
    lost: tuple[int, int] = (0, 0)
    absent: tuple[int, int] = (0, 0)  # lost, or never sent
    otherwise: bool = False  # whether the two ran under different policies
    repetitions: tuple[int, int] = (0, 0)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Comparison:
    """Two runs compared; ``only_a`` and ``only_b`` are keys that the other run does not have."""

    cells: list[KeyComparison]
    only_a: list[str]
    only_b: list[str]
    notes: list[str]

    @property
    def regressed(self) -> bool:
        """Whether any cell got slower, or does not work any more."""
        return any(cell.regressed for cell in self.cells)


@dataclass
class _Estimate:
    """The logarithm of a ratio before its interval is known."""

    target: KeyComparison
    name: str
    log_ratio: float
    within: float  # standard error from the bootstrap
    variance: float  # of one repetition, over repetitions
    freedom: int
    per_variance: float  # 1/a + 1/b


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
    return Comparison(
        cells=compare_cells(pairs, folders, threshold, confidence, seed),
        only_a=[key for key in by_key[0] if key not in by_key[1]],
        only_b=[key for key in by_key[1] if key not in by_key[0]],
        notes=_differences(runs),
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
    estimates: list[_Estimate] = []
    for number, (cell, sides) in enumerate(zip(compared, pairs.values(), strict=True)):
        rng = np.random.default_rng([seed, number])
        estimates += _estimate(cell, sides, folders, rng)
    _judge(estimates, threshold, confidence)
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
) -> list[_Estimate]:
    a, b = (
        _repetitions(cell, letter, cells, folder)
        for letter, cells, folder in zip("AB", sides, folders, strict=True)
    )
    cell.lost = (sum(c.lost for c in sides[0]), sum(c.lost for c in sides[1]))
    cell.absent = (_absent(sides[0]), _absent(sides[1]))
    cell.otherwise = _told(sides[0]) != _told(sides[1])
    cell.notes += _obtained(sides)
    cell.repetitions = (len(a), len(b))
    if a and not b:
        cell.regressed = True
        cell.notes.append("measured in A, but B has no sample of it: this counts as a regression")
    if not a or not b:
        return []
    measured = [[(len(one), _percentiles(one, rng)) for one in side] for side in (a, b)]
    estimates = []
    for name, (_, needed) in QUANTILES.items():
        enough = [[found for count, found in side if count >= needed] for side in measured]
        ended_early = any(one.status is not Status.complete for one in sides[1])
        if not _can_be_judged(cell, name, enough, measured, ended_early):
            continue
        logs = [np.array([np.log(one[name][0]) for one in side]) for side in enough]
        errors = [np.array([one[name][1] for one in side]) for side in enough]
        freedom = sum(len(side) - 1 for side in logs)
        squares = sum(float(((side - side.mean()) ** 2).sum()) for side in logs)
        estimates.append(
            _Estimate(
                target=cell,
                name=name,
                log_ratio=float(logs[1].mean() - logs[0].mean()),
                within=float(np.sqrt(sum((side**2).sum() / len(side) ** 2 for side in errors))),
                variance=squares / freedom if freedom else 0.0,
                freedom=freedom,
                per_variance=sum(1 / len(side) for side in logs),
            )
        )
    return estimates


def _obtained(sides: tuple[list[Cell], list[Cell]]) -> list[str]:
    """Where what was compared did not run under what was asked for."""
    if not any(obtained.refused(one) for side in sides for one in side):
        return []
    a, b = map(_told, sides)
    asked = obtained.asked(next(one for side in sides for one in side))
    if a == b:
        return [f"{asked} was requested; {a} was granted in both runs"]
    return [f"granted policies differ: {a} in A, {b} in B; requested: {asked}"]


def _told(side: list[Cell]) -> str:
    return obtained.told(side) or "nothing"


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
        cell.regressed = True
        cell.notes.append(
            f"A has a {name}, but every repetition of B is too short and some are "
            "incomplete: this counts as a regression"
        )
    if len(enough[0]) == len(enough[1]) == 1 and ALONE not in cell.notes:
        cell.notes.append(ALONE)
    return bool(enough[0] and enough[1])


def _repetitions(
    target: KeyComparison, letter: str, cells: list[Cell], folder: Path
) -> list[Int64]:
    """Read the latencies of each repetition in ns, in the order of time; say what is not there."""
    repetitions = []
    for cell in cells:
        if cell.status is not Status.complete:
            reason = f" ({cell.error.what})" if cell.error else ""
            target.notes.append(
                f"repetition {cell.repetition} of {letter} {cell.status.value}{reason}"
            )
        try:
            series = joined(
                [
                    read_series(folder / name, since_intended=cell.since_intended)
                    for name in cell.samples
                ]
            )
        except (OSError, pa.ArrowException, KeyError) as error:
            target.notes.append(f"cannot read repetition {cell.repetition} of {letter}: {error}")
            continue
        if len(series):
            # Subscribers hear the same messages: side by side, so that a block holds them together.
            order = np.argsort(series.intended_ns, kind="stable")
            repetitions.append(np.maximum(series.latency_ns[order], 1))
        elif cell.status is Status.complete:
            target.notes.append(f"repetition {cell.repetition} of {letter} has no samples")
    return repetitions


def _percentiles(values: Int64, rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """Give each percentile in ns with the standard error of its logarithm."""
    found = percentiles(values)
    at = {"p50": found.p50_us * 1000, "p99": found.p99_us * 1000}
    errors = standard_errors(values, {QUANTILES[name][0]: at[name] for name in at}, rng)
    return {name: (at[name], error) for name, error in zip(at, errors, strict=True)}


def _judge(estimates: list[_Estimate], threshold: float, confidence: float) -> None:
    """Give every estimate its interval, and say which cells regressed."""
    if not estimates:
        return
    chance = (1 - confidence) / len(estimates)
    for name in QUANTILES:
        chosen = [one for one in estimates if one.name == name]
        repeated = [one for one in chosen if one.freedom]
        # What the bootstrap sees within repetitions is a lower bound of what differs between them.
        variances, freedom = moderated(
            np.array([max(one.variance, _per_repetition(one), 1e-12) for one in repeated]),
            np.array([float(one.freedom) for one in repeated]),
        )
        # Steadying may widen an interval or narrow it by certainty, never by a smaller variance:
        # one noisy cell among quiet ones must not borrow their quiet.
        between = {
            id(one): float(t.ppf(1 - chance, df))
            * float(np.sqrt(max(variance, one.variance) * one.per_variance))
            for one, variance, df in zip(repeated, variances, freedom, strict=True)
        }
        for one in chosen:
            half = max(between.get(id(one), 0.0), float(norm.ppf(1 - chance)) * one.within)
            with np.errstate(over="ignore"):
                low, high = np.exp([one.log_ratio - half, one.log_ratio + half])
            change = Shift(float(np.exp(one.log_ratio)), float(low), float(high))
            one.target.changes[name] = change
            one.target.regressed |= change.low > 1 + threshold


def _per_repetition(one: _Estimate) -> float:
    return one.within**2 / one.per_variance
