# SPDX-License-Identifier: Apache-2.0
"""Writes the history as one HTML file with the long-term picture of each configuration, to turn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from takt import __version__
from takt.documents.writing import write_text
from takt.measure.history import machines
from takt.measure.history.accumulate import Accumulated
from takt.measure.history.show import sentences
from takt.measure.report import charts
from takt.measure.results.point import BY_JITTER
from takt.pages import page, text
from takt.pages.pictures import binned, log_binned, wants_logarithm

MOST_RUNS = 60  # of one picture: the latest
RUN_BINS = 150


def write_history(file: Path, configurations: Sequence[Accumulated], left_out: int = 0) -> Path:
    """Writes the page; ``left_out`` configurations are only counted."""
    environment = page.environment("takt.measure.history")
    environment.globals["text"] = text
    shown = [(f"c{number}", one) for number, one in enumerate(configurations, 1)]
    content = environment.get_template("history.html.j2").render(
        configurations=shown,
        left_out=left_out,
        sentences=sentences,
        machines=machines,
        chart_data={anchor: runs_chart(one) for anchor, one in shown},
        written=datetime.now(timezone.utc),
        version=__version__,
        style=page.asset("page.css"),
        script=page.scripts(("runs.js", "takt.measure.history")),
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, content)
    return file


def runs_chart(one: Accumulated) -> charts.Json:
    """One histogram a run on common bins, empty ones left out; ``x`` is a bin's lower edge."""
    runs = one.runs[-MOST_RUNS:]
    low = min(int(run.value_us[0]) for run in runs)
    high = max(int(run.value_us[-1]) for run in runs) + 1
    logarithmic = wants_logarithm(low, high)
    series = []
    edges = np.empty(0)
    for run in runs:
        edges, counts = (log_binned if logarithmic else binned)(run, low, high, RUN_BINS)
        (filled,) = counts.nonzero()
        series.append(
            {
                "name": run.name,
                "bins": filled.tolist(),
                "x": [charts.short(float(edges[place])) for place in filled],
                "y": counts[filled].tolist(),
            }
        )
    jitter = one.kind in BY_JITTER
    return {
        "axis": "jitter (µs)" if jitter else "latency (µs)",
        "bins": len(edges) - 1,
        "ticks": _ticks(edges, logarithmic),
        "series": series,
    }


def _ticks(edges: NDArray[np.float64], logarithmic: bool) -> list[charts.Json]:
    """Round values with their places among the bins."""
    low, high = float(edges[0]), float(edges[-1])
    if logarithmic:
        powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
        values = np.outer(powers, (1, 2, 5)).ravel()
    else:
        rough = (high - low) / 6
        unit = 10.0 ** np.floor(np.log10(rough))
        step = unit * next(factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
        values = np.arange(np.ceil(low / step), high / step) * step
    values = values[(values >= low) & (values <= high)]
    places = np.interp(values, edges, np.arange(len(edges)))
    return [
        {"bin": round(float(place), 2), "label": text.count(round(float(value)))}
        for place, value in zip(places, values, strict=True)
    ]
