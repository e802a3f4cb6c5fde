# SPDX-License-Identifier: Apache-2.0
"""A log file of each subscriber or timer, as the thesis's suites write it: gnuplot plots it.

Comments have the results, as the suite prints them; then come gnuplot's commands and the histogram,
whose value axis is linear and whose frequency axis is logarithmic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow

from takt.documents.units import format_period
from takt.documents.writing import write_text
from takt.measure.results import histogram
from takt.measure.results.model import Cell, Cyclic, Extreme, Percentiles, Run
from takt.measure.statistics.series import read_batches, series_of
from takt.pages import text
from takt.reproduce.sticha2014.evidence import TRANSPORTS

FOLDER = "logs"
SIZE = "1024,768"
HEAD = """\
# {title}
# Measurement results with a total of {count} measurements, {lost} lost:
# {what}: MIN: {low:.0f}us AVG: {mean:.0f}us MAX: {high:.0f}us
# Indices of top values (|{what}:index|): {highest}
# Indices of lowest values (|{what}:index|): {lowest}
set terminal jpeg size {size}
set output "{name}.jpg"
set logscale y 10
set xlabel "{what} (us)"
set ylabel "frequency"
plot "-" using 1:2 with impulses title "{title}"
"""


def write(run: Run, folder: Path) -> list[Path]:
    """Writes what is not there yet; what cannot be read has none."""
    return [file for cell in run.cells if cell.stack in TRANSPORTS for file in _of(cell, folder)]


def _of(cell: Cell, folder: Path) -> Iterator[Path]:
    for number, samples in enumerate(cell.samples):
        name = cell.id + f"-subscriber{number + 1}" * (len(cell.samples) > 1)
        file = folder / FOLDER / f"{name}.log"
        if file.exists():
            yield file
            continue
        try:
            bins = _bins(cell, folder, samples)
        except (OSError, pyarrow.ArrowException):
            continue
        if content := _content(cell, number, name, bins):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_text(file, content)
            yield file


def _bins(cell: Cell, folder: Path, samples: str) -> histogram.Bins:
    found = histogram.Bins()
    if len(cell.samples) == 1 and cell.histogram:
        found.values, found.counts = histogram.read(folder / cell.histogram)
        return found
    for batch in read_batches(folder / samples):
        found.add(series_of(batch, since_intended=cell.since_intended).latency_ns)
    return found


def _content(cell: Cell, number: int, name: str, bins: histogram.Bins) -> str:
    known = cell.statistics
    if known is None:
        return ""
    values: Percentiles | None = known.latency
    of: Cyclic | None = known.cyclic
    highest, lowest, lost = known.highest, known.lowest, cell.lost
    if of is not None:
        values, highest, lowest = of.jitter, of.highest, of.lowest
    elif len(cell.samples) > 1 and number < len(known.subscribers):
        one = known.subscribers[number]
        values, highest, lowest, lost = one.latency, one.highest, one.lowest, one.lost
    if values is None:
        return ""
    pace = format_period(round(cell.period_us * 1000))
    scheduling = text.scheduling(cell.scheduling, cell.priority, cell.cpu)
    head = HEAD.format(
        title=f"{cell.stack} {cell.kind}, {pace}, {scheduling}, load {cell.load}",
        what="jitter" if of is not None else "latency",
        count=values.count,
        lost=lost,
        low=values.min_us,
        mean=values.mean_us,
        high=values.max_us,
        highest=_indices(highest),
        lowest=_indices(lowest),
        size=SIZE,
        name=name,
    )
    rows = zip(bins.values, bins.counts, strict=True)
    return head + "".join(f"{value} {count}\n" for value, count in rows) + "e\n"


def _indices(found: Sequence[Extreme]) -> str:
    return "|" + "".join(f"{one.us:.0f}:{one.index}|" for one in found)
