# SPDX-License-Identifier: Apache-2.0
"""What each setting of ``takt tune`` is worth here: measured with and without it, in one run.

The cells without, with one setting, and with all of them are interleaved in random order, so that
what else changes meanwhile touches them alike. A setting *helps* or *harms* where the interval of
a ratio of percentiles excludes 1; the intervals are simultaneous over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.text import Text

from takt.doctor.show import print_prose
from takt.machine.settings import BY_ID
from takt.measure.check.evidence import way
from takt.measure.check.plan import DEADLINE, DURATION, PAYLOAD, RATE, REALTIME, RealtimeCore
from takt.measure.conditions.tuned import ALL, NONE
from takt.measure.experiment.model import Experiment
from takt.measure.results.model import Cell, Run, Status
from takt.measure.statistics.compare import compare_cells
from takt.measure.statistics.compare_model import Shift
from takt.pages.row_table import of_cells

_ORDER = (*BY_ID, ALL)
NAME = "check-tuned"
REPETITIONS = 5
LAYERS: tuple[dict[str, Any], ...] = (
    {"stack": "raw", "kind": "wakeup", "transport": "nanosleep"},
    {"stack": "rcl", "kind": "pingpong", "transport": "shm", "payload": PAYLOAD},
)
_CAVEAT = (
    "Measured on the machine as it is now. Interrupts, ksoftirqd, swap and buffers matter "
    "only under load and traffic; to compare under both, add tuned, load and traffic to "
    "an experiment."
)

Answer = Literal["helps", "harms", "no significant difference", "not measured"]


@dataclass(frozen=True)
class Worth:
    """What one setting changed in one layer: with it over without it, below 1 is better."""

    setting: str
    layer: str
    p50: Shift | None
    p99: Shift | None

    @property
    def answer(self) -> Answer:
        """By both percentiles; one that harms counts more."""
        known = [one for one in (self.p50, self.p99) if one]
        if not known:
            return "not measured"
        if any(one.low > 1 for one in known):
            return "harms"
        return "helps" if any(one.high < 1 for one in known) else "no significant difference"


def experiment(core: RealtimeCore, settings: Sequence[str]) -> Experiment:
    """Two layers in real time: as the machine is, with each setting alone, with all together."""
    tuned = [NONE, *settings] + ([ALL] if len(settings) > 1 else [])
    common = {"rate": RATE, "scheduling": REALTIME, "cpu": core.cpu, "tuned": tuned}
    return Experiment.model_validate(
        {
            "name": NAME,
            "description": "Gain of each setting of takt tune on this machine",
            "repetitions": REPETITIONS,
            "duration": DURATION,
            "deadline": DEADLINE,
            "skip_missing": True,
            "measurements": [{**layer, **common} for layer in LAYERS],
        }
    )


def worth(run: Run, folder: Path) -> list[Worth]:
    """Each setting in each layer against the same layer without it, from the folder's samples."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in run.cells:
        groups.setdefault((way(cell), cell.tuned), []).append(cell)
    pairs = {
        f"{layer} {setting}": (groups[layer, NONE], cells)
        for (layer, setting), cells in groups.items()
        if setting != NONE and (layer, NONE) in groups
    }
    names = [key for key in groups if key[1] != NONE and (key[0], NONE) in groups]
    found = [
        Worth(setting, layer, one.changes.get("p50"), one.changes.get("p99"))
        for (layer, setting), one in zip(names, compare_cells(pairs, (folder, folder)), strict=True)
    ]
    stacks = [layer["stack"] for layer in LAYERS]
    layers = {way(cell): stacks.index(cell.stack) for cell in run.cells}
    return sorted(found, key=lambda one: (layers[one.layer], _ORDER.index(one.setting)))


def show(console: Console, run: Run, found: Sequence[Worth]) -> None:
    """Print a table for each layer, and what failed."""
    for layer in dict.fromkeys(one.layer for one in found):
        console.print(Text(f"\n{layer}: latency with the setting / without", style="bold"))
        rows = [
            (f"  {one.setting}", _ratio(one.p50), _ratio(one.p99), one.answer)
            for one in found
            if one.layer == layer
        ]
        console.print(of_cells(("  setting", "p50", "p99", ""), rows, words=[""]))
    console.print()
    for cell in run.cells:
        if cell.status is Status.failed and cell.error:
            print_prose(console, Text(f"{cell.id}: {cell.error.what}: {cell.error.why}"), indent=2)
    print_prose(console, Text(_CAVEAT, style="dim"), indent=2)


def documents(found: Sequence[Worth]) -> list[dict[str, Any]]:
    """For ``--json``."""

    def change(one: Shift | None) -> dict[str, float] | None:
        return {"ratio": one.ratio, "low": one.low, "high": one.high} if one else None

    return [
        {
            "setting": one.setting,
            "layer": one.layer,
            "p50": change(one.p50),
            "p99": change(one.p99),
            "answer": one.answer,
        }
        for one in found
    ]


def _ratio(change: Shift | None) -> str:
    return f"{change.ratio:.2f} ({change.low:.2f} … {change.high:.2f})" if change else "–"
