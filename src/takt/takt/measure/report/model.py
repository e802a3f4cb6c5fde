# SPDX-License-Identifier: Apache-2.0
"""What the report shows, as plain data: the templates only lay it out.

A *measurement* is what was measured (stack, kind, transport, payload, …); its *variants* differ
only in scheduling, so they share charts. A variant is one key of the run under one policy and
priority as they were granted, its repetitions pooled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from takt.measure.report import charts, pool
from takt.measure.report.conditions import ConditionRow, condition_row
from takt.measure.report.kinds import KINDS
from takt.measure.report.own import OwnTable, jitter_bins, own_tables
from takt.measure.report.settings import SettingRow, repeated_notes, setting_rows
from takt.measure.report.supply import supply_tables
from takt.measure.report.title import title
from takt.measure.results import reservations, scheduling
from takt.measure.results.model import Cell, Extreme, Note, Run, Statistics, Status
from takt.measure.results.outcome import CellOutcome, deadline_of, judge
from takt.measure.results.point import Point
from takt.measure.statistics.pooled import by_name, statistics
from takt.pages import text


@dataclass(frozen=True)
class RankedSample:
    """One of the highest or lowest samples of a variant."""

    repetition: int
    extreme: Extreme


@dataclass
class Variant:
    """The repetitions of a measurement under one scheduling setting, as it was granted."""

    key: str  # by what was granted
    anchor: str
    scheduling: str  # granted
    refused: str  # what was requested instead; empty where it was granted
    colour: int
    cells: list[Cell]
    statistics: Statistics | None = None  # pooled; None where nothing can be pooled
    highest: list[RankedSample] = field(default_factory=list)
    lowest: list[RankedSample] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)  # what kept samples from being read

    def total(self, name: str) -> int:
        """Sum a counter of the cells."""
        return sum(getattr(cell, name) for cell in self.cells)

    @property
    def absent(self) -> int:
        """How many samples did not arrive."""
        return sum(map(reservations.absent, self.cells))

    @property
    def outcome(self) -> CellOutcome:
        """Whether the responses meet their deadline."""
        return judge(self.cells)

    @property
    def late(self) -> int:
        """How many responses came after their deadline; 0 where they have none."""
        judged = self.statistics is not None and deadline_of(self.cells[0]) is not None
        return self.statistics.exceedance.exceeded if judged and self.statistics else 0

    @property
    def steal_seconds(self) -> float:
        """CPU time that the hypervisor took, all repetitions."""
        return sum(cell.steal_seconds for cell in self.cells)

    @property
    def others_seconds(self) -> float | None:
        """CPU time that other programs took, all repetitions; None where no cell knows."""
        known = [cell.others_seconds for cell in self.cells if cell.others_seconds is not None]
        return sum(known) if known else None

    @property
    def disturbed(self) -> str:
        """Say during how many repetitions other programs took much CPU time."""
        number = sum(cell.disturbed for cell in self.cells)
        return f"{number} of {len(self.cells)} repetitions disturbed" if number else ""

    @property
    def clock_bound_us(self) -> float | None:
        """The most by which a latency between two clocks is wrong; None where there is one."""
        found = [cell.conditions.clock_bound_us for cell in self.cells if cell.conditions]
        return max((bound for bound in found if bound), default=None)

    @property
    def state(self) -> str:
        """Say how many repetitions are complete, where not all are."""
        complete = sum(cell.status is Status.complete for cell in self.cells)
        if complete == len(self.cells):
            return ""
        return f"{complete} of {len(self.cells)} repetitions complete"


@dataclass
class Measurement:
    """Variants that differ only in scheduling, with the charts that they share."""

    anchor: str
    title: str
    kind: str
    deadline_us: float | None  # None: it has none
    period_us: float
    variants: list[Variant]
    own: list[OwnTable] = field(default_factory=list)
    charts: dict[str, charts.Json] = field(default_factory=dict)


@dataclass(frozen=True)
class KindTable:
    """A table of the report: all measurements of one kind on one scale."""

    name: str
    title: str
    meaning: str
    measurements: list[Measurement]
    scale: Scale

    @property
    def has_deadlines(self) -> bool:
        """Whether responses of this kind can be late."""
        return any(one.deadline_us is not None for one in self.measurements)


@dataclass(frozen=True)
class Scale:
    """A logarithmic axis in µs, for the bars in a table."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Where a value lies, in percent of the width."""
        share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)

    @property
    def ticks(self) -> list[float]:
        """Powers of ten inside the axis."""
        first = math.ceil(math.log10(self.low) - 1e-9)
        return [10.0**power for power in range(first, math.floor(math.log10(self.high) + 1e-9) + 1)]


@dataclass(frozen=True)
class Unfinished:
    """Cells that ended alike before their end."""

    cells: list[str]
    status: str
    error: Note | None
    samples: int

    @property
    def count(self) -> int:
        """How many cells these are."""
        return len(self.cells)


@dataclass(frozen=True)
class Page:
    """The whole report."""

    run: Run
    kinds: list[KindTable]
    settings: list[SettingRow]
    unfinished: list[Unfinished]
    conditions: list[ConditionRow]

    @property
    def has_deadlines(self) -> bool:
        """Whether any response can be late."""
        return any(kind.has_deadlines for kind in self.kinds)

    @property
    def repeated_notes(self) -> list[tuple[Note, int]]:
        """What is said of several of the settings."""
        return repeated_notes(self.settings)

    @property
    def measurements(self) -> list[Measurement]:
        """All measurements in the order of the tables."""
        return [measurement for kind in self.kinds for measurement in kind.measurements]

    @property
    def variants(self) -> list[Variant]:
        """All variants in the order of the tables."""
        return [variant for measurement in self.measurements for variant in measurement.variants]

    @property
    def chart_data(self) -> dict[str, charts.Json]:
        """The charts' data by the id of their element."""
        return {
            name: chart
            for measurement in self.measurements
            for name, chart in measurement.charts.items()
        }


def build(folder: Path, run: Run) -> Page:
    """Collect what the report shows; samples that cannot be read are said, not fatal."""
    by_measurement: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in run.cells:
        by_measurement.setdefault(_identity(cell), []).append(cell)
    ordered = [by_name(by_measurement[identity]) for identity in sorted(by_measurement, key=_rank)]
    measurements = [
        _measurement(folder, number, by_key) for number, by_key in enumerate(ordered, 1)
    ]
    names = [*KINDS, *sorted({one.kind for one in measurements} - set(KINDS))]
    kinds = []
    for name in names:
        chosen = [one for one in measurements if one.kind == name]
        if chosen:
            title, meaning = KINDS.get(name, (name, ""))
            kinds.append(KindTable(name, title, meaning, chosen, _scale(chosen)))
    page = Page(run, kinds, [], _unfinished(run.cells), [])
    for measurement in page.measurements:
        for variant in measurement.variants:
            page.settings.extend(setting_rows(measurement.title, variant.cells))
            row = condition_row(measurement.title, variant.scheduling, variant.cells)
            page.conditions.extend([row] if row else [])
    return page


def _unfinished(cells: list[Cell]) -> list[Unfinished]:
    alike: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.status is not Status.complete:
            reason = cell.error.model_dump_json() if cell.error else ""
            alike.setdefault(cell.status.value + reason, []).append(cell)
    return [
        Unfinished(
            [cell.id for cell in group],
            group[0].status.value,
            group[0].error,
            sum(cell.count for cell in group),
        )
        for group in alike.values()
    ]


# What decides the order of the report, before all else that was asked.
_FIRST = [
    "stack", "kind", "transport", "payload_bytes", "content", "period_us", "samples_requested",
    "deadline_us", "subscribers", "threads", "distance_us", "reliability", "depth", "durability",
    "history",
]  # fmt: skip
_LAST = ["start_delay_us", "label"]
_OF_VARIANTS = ["scheduling", "priority", "cpu"]
_OTHERS = [one for one in Point.model_fields if one not in {*_FIRST, *_LAST, *_OF_VARIANTS}]


def _identity(cell: Cell) -> tuple[Any, ...]:
    """All that was asked except scheduling."""
    return tuple(getattr(cell, name) for name in (*_FIRST, *_OTHERS, *_LAST))


def _rank(identity: tuple[Any, ...]) -> tuple[Any, ...]:
    """Put the machine's own limits before the stacks above it, whatever the order of the run."""
    stack, _, transport, *rest = identity
    stacks, transports = list(text.STACKS), list(text.TRANSPORTS)
    return (
        stacks.index(stack) if stack in stacks else len(stacks),
        stack,
        transports.index(transport) if transport in transports else len(transports),
        transport,
        *((value is not None, value) for value in rest),  # None goes before all others
    )


def _measurement(folder: Path, number: int, by_key: dict[str, list[Cell]]) -> Measurement:
    first = next(iter(by_key.values()))[0]
    measurement = Measurement(
        f"m{number}", title(first), first.kind, deadline_of(first), first.period_us, []
    )
    jitters = []
    named_bins = []
    normal_first = sorted(by_key.items(), key=lambda item: scheduling.real_time(_measured(item[1])))
    colours = _colours([scheduling.real_time(_measured(cells)) for _, cells in normal_first])
    for place, (key, cells) in enumerate(normal_first):
        cells.sort(key=lambda cell: cell.repetition)
        one = _measured(cells)
        variant = Variant(
            key=key,
            anchor=f"m{number}-v{place + 1}",
            scheduling=" and ".join(_written(each, one) for each in scheduling.measured(one)),
            refused=_written(scheduling.requested(one), one) if scheduling.refused(one) else "",
            colour=colours[place],
            cells=cells,
        )
        measurement.variants.append(variant)
        found = pool.read(folder, cells)
        variant.unreadable = found.unreadable
        variant.statistics = statistics(found, cells)
        _rank_extremes(variant)
        if variant.statistics and found.summary.latency.count:
            bins = charts.bins_of(found.latency)
            named_bins.append(
                (variant.scheduling, variant.colour, bins, variant.statistics.latency)
            )
            measurement.charts[f"{variant.anchor}-time"] = charts.over_time(
                found.repetitions, variant.scheduling, variant.colour, measurement.deadline_us
            )
        if jitter := jitter_bins(folder, variant.cells):
            jitters.append((variant.scheduling, variant.colour, *jitter))
    measurement.own = [*supply_tables(folder, by_key), *own_tables(measurement.variants)]
    if jitters:
        measurement.charts[f"m{number}-jitter"] = charts.jitter(jitters)
    if named_bins:
        measurement.charts[f"m{number}-histogram"] = charts.histogram(
            [(name, colour, bins) for name, colour, bins, _ in named_bins]
        )
        measurement.charts[f"m{number}-tail"] = charts.tail(named_bins)
    return measurement


def _measured(cells: list[Cell]) -> Cell:
    """One whose processes have reported what they were granted, where there is one."""
    return next((cell for cell in cells if scheduling.granted(cell)), cells[0])


def _written(one: scheduling.Scheduling, cell: Cell) -> str:
    return text.scheduling(one.policy, one.priority, cell.cpu)


def _colours(real_time: list[bool]) -> list[int]:
    """Give the first normal variant colour 0 and the first real-time one 1, here and everywhere."""
    free = iter(range(2, 2 + len(real_time)))
    reserved = {False: 0, True: 1}
    return [reserved.pop(one) if one in reserved else next(free) for one in real_time]


def _rank_extremes(variant: Variant) -> None:
    """Finds the highest and lowest samples of all repetitions."""
    measured = [cell for cell in variant.cells if cell.statistics]
    for name, sign in (("highest", -1), ("lowest", 1)):
        ranked = [
            RankedSample(cell.repetition, extreme)
            for cell in measured
            if cell.statistics
            for extreme in getattr(cell.statistics, name)
        ]
        ranked.sort(key=lambda sample, sign=sign: sign * sample.extreme.us)  # type: ignore[misc]
        setattr(variant, name, ranked[:10])


def _scale(measurements: list[Measurement]) -> Scale:
    values = [
        value
        for measurement in measurements
        for variant in measurement.variants
        if variant.statistics
        for value in (
            variant.statistics.response.min_us,
            variant.statistics.response.max_us,
            measurement.deadline_us or 0.0,
        )
        if value > 0
    ]
    low, high = min(values, default=1.0), max(values, default=1000.0)
    return Scale(low * 0.85, max(high * 1.15, low * 2))
