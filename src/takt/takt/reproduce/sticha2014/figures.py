# SPDX-License-Identifier: Apache-2.0
"""The thesis's figures, drawn from this machine's histograms: one file a figure and stack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from takt.documents.units import format_duration, format_period
from takt.measure.results import histogram
from takt.measure.results.model import Cell
from takt.pages import pictures, text
from takt.pages.pictures import Counts, Mark
from takt.reproduce.evidence import Evidence
from takt.reproduce.model import Figure
from takt.reproduce.published import Published
from takt.reproduce.scatter import Missing
from takt.reproduce.sticha2014.evidence import MS_1, MS_10, NO_LOAD, REALTIME, TRANSPORTS

FOLDER = "figures"
BARE_FIGURE = "2.2"
LATENCY, JITTER = "latency (µs)", "jitter (µs)"
NAMES = {"rcl": "ROS 2", "ros1": "ROS 1", "cyclictest": "cyclictest", "raw": "Takt's own wake-up"}
KINDS = {
    "pubsub": "publish/subscribe",
    "timer-oneshot": "one-shot timer",
    "timer-cyclic": "cyclic timer",
}
POLICIES = {"rr": "round robin", "fifo": "FIFO", "other": "no real-time priority"}
MARKS = {
    "min_us": "lowest",
    "mean_us": "mean",
    "max_us": "highest",
    "first_us": "first message",
    "deadline_us": "deadline",
}
# Figure of the thesis: what it shows, and which points.
HISTOGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    BARE_FIGURE: ("1 kHz", {"kind": "wakeup", "scheduling": "fifo", "cpu": (0,)}),
    "4.1": ("one-shot timer, 1 ms", {"kind": "timer-oneshot", "period_us": MS_1}),
    "4.2": ("cyclic timer, 1 kHz", {"kind": "timer-cyclic", "period_us": MS_1}),
    "4.3": (
        "100 Hz, 200 B, 1 subscriber",
        {"kind": "pubsub", "period_us": MS_10, "subscribers": 1},
    ),
    "4.4": (
        "100 Hz, 200 B, 5 subscribers",
        {"kind": "pubsub", "period_us": MS_10, "subscribers": 5},
    ),
}
WITHOUT_REALTIME = "4.5"
LONG_TERM = {"5.2": "timer-oneshot", "5.3": "timer-cyclic", "5.4": "pubsub"}


def figures(published: Published, evidences: list[Evidence]) -> list[Figure]:
    """Draws every figure whose points were measured, the thesis's numbers in the same picture."""
    figures_drawn: list[Figure] = []
    for evidence in evidences:
        folder = evidence.measured.folder
        name, ros = NAMES[evidence.stack], evidence.stack in TRANSPORTS
        for figure, (title, asked) in HISTOGRAMS.items():
            if ros == (figure == BARE_FIGURE):
                continue
            if cells := _cells(evidence, **{"scheduling": "rr", "load": NO_LOAD, **asked}):
                words = f"{name}: {title}, {POLICIES[cells[0].scheduling]}"
                files = pictures.histogram(
                    folder / FOLDER / f"{figure}-{evidence.stack}",
                    words,
                    _together(cells, folder),
                    _axis(cells),
                    _marks(published, figure),
                )
                figures_drawn += _named(published, figure, files, folder)
        if not ros:
            continue
        shown = []
        for kind, kind_name in KINDS.items():
            if cells := _cells(
                evidence, kind=kind, scheduling="other", period_us=MS_1, subscribers=1
            ):
                title = f"{name}: {kind_name}, 1 ms, without real-time priority"
                shown.append((title, _together(cells, folder), _axis(cells)))
        if shown:
            file = folder / FOLDER / f"{WITHOUT_REALTIME}-{evidence.stack}"
            figures_drawn += _named(
                published, WITHOUT_REALTIME, pictures.panels(file, shown), folder
            )
        for figure, kind in LONG_TERM.items():
            # The thesis's long-term runs have two timeouts or rates.
            if cells := _cells(evidence, kind=kind, scheduling=REALTIME, period_us=(MS_1, MS_10)):
                total = sum(cell.count for cell in cells)
                files = pictures.long_term(
                    folder / FOLDER / f"{figure}-{evidence.stack}",
                    f"{name}: {KINDS[kind]}, {len(cells)} runs, {text.count(total)} measurements",
                    _counts(cells, folder),
                    _axis(cells),
                    _marks(published, figure),
                )
                figures_drawn += _named(published, figure, files, folder)
    return figures_drawn


def _marks(published: Published, figure: str) -> list[Mark]:
    """The numbers that the thesis gives of a figure."""
    return [
        Mark(f"thesis: {MARKS[name]}", float(value))
        for name, value in published.figures[figure].values.items()
        if isinstance(value, int | float)
    ]


def _cells(evidence: Evidence, **asked: Any) -> list[Cell]:
    """Idle ones first, whatever the order of the run: each load has one colour in all panels."""
    try:
        found = [cell for cell in evidence.cells(**asked) if cell.histogram]
    except Missing:
        return []
    return sorted(found, key=lambda cell: cell.load not in NO_LOAD)


def _together(cells: list[Cell], folder: Path) -> list[Counts]:
    """Histograms of points that are named alike, as one."""
    named: dict[str, list[Counts]] = {}
    for one in _counts(cells, folder):
        named.setdefault(one.name, []).append(one)
    return [
        Counts(name, *histogram.merged([(one.value_us, one.count) for one in parts]))
        for name, parts in named.items()
    ]


def _counts(cells: list[Cell], folder: Path) -> list[Counts]:
    return [Counts(_label(one), *histogram.read(folder / str(one.histogram))) for one in cells]


def _label(cell: Cell) -> str:
    pace = round(cell.period_us * 1000)
    one_shot = cell.kind == "timer-oneshot"
    words = [format_duration(pace) if one_shot else format_period(pace), POLICIES[cell.scheduling]]
    words += ["CPU load"] if cell.load not in NO_LOAD else ["idle"]
    return ", ".join(words)


def _axis(cells: list[Cell]) -> str:
    return JITTER if cells[0].kind == "timer-cyclic" else LATENCY


def _named(published: Published, figure: str, files: list[Path], folder: Path) -> list[Figure]:
    caption = published.figures[figure].caption
    return [
        Figure(figure=figure, file=str(file.relative_to(folder)), caption=caption) for file in files
    ]
