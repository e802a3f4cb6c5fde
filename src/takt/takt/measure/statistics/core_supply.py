# SPDX-License-Identifier: Apache-2.0
"""The supply of each core of a run, over all of its cells, and the ``supply.yaml`` with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from takt.documents.units import format_duration
from takt.documents.writing import write_text
from takt.measure.results.model import Cell, Run
from takt.measure.results.point import SUPPLY
from takt.measure.results.supply import (
    CoreSupply,
    PeriodicResource,
    ShortGaps,
    SupplyPoint,
    Taker,
)
from takt.measure.statistics import supply
from takt.measure.statistics.series import Batch, read_batches
from takt.measure.statistics.supply import WHOLE, Watched
from takt.statistics import Int64

FILE = "supply.yaml"
#: Lengths of the curve, from the longest window down.
_POINTS = 12
_HEAD = """\
# Measured by takt measure supply, not guaranteed: an assumption about these cores, as good as the
# machine stays as it was. For takt analyse, simulate and execute: --supply {file}
# In each window, no stretch provided less than the rate after the delay.
# Interrupts are in the supply. Do not declare them again.
"""


def supplies(run: Run, folder: Path) -> list[CoreSupply]:
    """Of each core that was watched in this run; raises OSError where samples are gone."""
    return of_cells(run.cells, folder)


def of_cells(cells: Iterable[Cell], folder: Path) -> list[CoreSupply]:
    """The same of some of its cells."""
    by_core: dict[int, list[Cell]] = {}
    for cell in cells:
        if cell.kind == SUPPLY and cell.cpu and cell.samples and cell.gaps:
            by_core.setdefault(cell.cpu[0], []).append(cell)
    return [_of_core(cpu, group, folder) for cpu, group in sorted(by_core.items())]


def _of_core(cpu: int, cells: Sequence[Cell], folder: Path) -> CoreSupply:
    recorded = [
        (cell, _read(folder / cell.samples[0]), _read(folder / (cell.gaps or ""))) for cell in cells
    ]
    late = np.concatenate([one.received_ns - one.intended_ns for _, one, _ in recorded])
    latency = supply.latency_of(late)
    lengths = [round(cell.period_us * 1000) // 2 for cell in cells]
    single = [
        supply.watched(own, gaps, length, latency)
        for length, (_, own, gaps) in zip(lengths, recorded, strict=True)
    ]
    gaps_ns = np.concatenate([one.ends - one.begins for part in single for one in part])
    longest = int(gaps_ns.max(initial=0))
    each = min(-(-supply.LONG * longest // min(lengths)) or 1, *map(len, single))
    windows: list[Watched] = [row for part in single for row in supply.in_a_row(part, each)]
    pair = supply.bounded_delay(windows)
    periodic = pair.periodic() if pair else None
    window = each * min(lengths)
    most = min(one.length for one in windows)
    stretches = [most >> place for place in range(_POINTS - 1, -1, -1) if most >> place]
    least = supply.least_supply(windows, stretches)
    total = sum(one.length for one in windows)
    return CoreSupply(
        cpu=cpu,
        cells=[cell.id for cell in cells],
        windows=len(windows),
        window_us=window / 1e3,
        mean_share=1 - sum(one.withheld for one in windows) / total,
        least_share=min(1 - one.withheld / one.length for one in windows),
        longest_gap_us=longest / 1e3,
        rate=pair.rate / WHOLE if pair else None,
        delay_us=pair.delay / 1e3 if pair else None,
        periodic=PeriodicResource(budget_us=periodic[0] / 1e3, period_us=periodic[1] / 1e3)
        if periodic
        else None,
        latency_us=latency / 1e3,
        short_gaps=_short(gaps_ns, total),
        curve=[
            SupplyPoint(length_us=length / 1e3, least_us=got / 1e3)
            for length, got in zip(stretches, least, strict=True)
            if got is not None
        ],
        takers=_together(one for cell in cells for one in cell.takers),
    )


def _read(path: Path) -> Batch:
    return Batch.joined(list(read_batches(path)))


def _short(gaps: Int64, total: int) -> ShortGaps:
    short = gaps[gaps <= supply.INTERRUPT_NS]
    return ShortGaps(
        count=len(short),
        period_us=total / len(short) / 1e3 if len(short) else None,
        median_us=float(np.median(short)) / 1e3 if len(short) else None,
        longest_us=int(short.max()) / 1e3 if len(short) else None,
    )


def _together(takers: Iterable[Taker]) -> list[Taker]:
    found: dict[tuple[str, str], Taker] = {}
    for one in takers:
        known = found.setdefault((one.kind, one.name), Taker(kind=one.kind, name=one.name))
        known.count += one.count
        if one.seconds is not None:
            known.seconds = (known.seconds or 0.0) + one.seconds
        if one.longest_us is not None:
            known.longest_us = max(known.longest_us or 0.0, one.longest_us)
    return list(found.values())


def write(found: Iterable[CoreSupply], folder: Path) -> Path | None:
    """Writes what cores provide as ``cores:`` of an app.yaml; None: no core has a supply."""
    lines = []
    for one in found:
        if one.rate is None or one.delay_us is None:
            continue
        window = format_duration(round(one.window_us * 1e3))
        keys = (
            f"supply: {{rate: {one.rate:.4f}, delay: {_us_up(one.delay_us)}}}",
            f"latency: {_us_up(one.latency_us)}",
            f"measured: {{windows: {one.windows}, window: {window}}}",
        )
        lines.append(f"  {one.cpu}: {{{', '.join(keys)}}}\n")
    if not lines:
        return None
    path = folder / FILE
    write_text(path, f"{_HEAD.format(file=FILE)}cores:\n{''.join(lines)}")
    return path


def _us_up(time_us: float) -> str:
    """In whole µs, rounded up."""
    return format_duration(-int(-time_us // 1) * 1000)
