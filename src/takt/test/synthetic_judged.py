# SPDX-License-Identifier: Apache-2.0
"""Made-up runs of one point, and what each command says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from command_line import takt as call
from synthetic_cells import cell_of, records_of, synthetic_run
from synthetic_runs import STARTED

from takt.lab import judged, verdict
from takt.lab.modes import Mode
from takt.measure.check import verdict as checked
from takt.measure.results import store
from takt.measure.results.model import Cell, Note, Run, Status, Verdict
from takt.measure.run import session
from takt.statistics.judgement import Outcome, overall

REPETITIONS, SAMPLES = 3, 3000
JUDGED = REPETITIONS * (SAMPLES - 1)  # the first of each is not
QUICK_US, LATE_US, NEVER = 100.0, 5000.0, float("nan")

Change = Callable[[Cell], None]


def unchanged(_: Cell) -> None:
    """As it was measured."""


def disturbed(cell: Cell) -> None:
    cell.disturbed, cell.others_seconds = True, 2.0


def stolen(cell: Cell) -> None:
    cell.steal_seconds = 5.0


def refused(cell: Cell) -> None:
    cell.probes[0].granted = {"policy": "other", "priority": 0}


def third(change: Change) -> Change:
    """Of the last repetition only."""

    def changed(cell: Cell) -> None:
        if cell.repetition == REPETITIONS:
            change(cell)

    return changed


def failed(cell: Cell) -> None:
    cell.status, cell.error = Status.failed, Note(what="the probe died", why="SIGSEGV")


def stopped(cell: Cell) -> None:
    cell.status = Status.partial


def absent(cell: Cell) -> None:
    """Nothing ever arrived: as the runner leaves such a cell."""
    failed(cell)
    cell.count, cell.samples, cell.statistics, cell.histogram = 0, [], None, None
    cell.lost = cell.sent


def run(
    folder: Path, late: int = 0, missing: int = 0, change: Change = unchanged, name: str = "made"
) -> Path:
    """So many late and missing samples over all repetitions, spread evenly."""
    folder.mkdir(parents=True)
    values = np.full((REPETITIONS, SAMPLES), QUICK_US)
    places = [
        (number % REPETITIONS, 1 + number // REPETITIONS * 3 % (SAMPLES - 1))
        for number in range(late + missing)
    ]
    assert len(set(places)) == late + missing
    for number, place in enumerate(places):
        values[place] = LATE_US if number < late else NEVER
    cells = []
    for number, series in enumerate(values):
        cell = cell_of(
            folder,
            [records_of(series, 1000.0)],
            number + 1,
            stack="raw",
            kind="wakeup",
            transport="nanosleep",
            deadline_us=1000.0,
            granted={"policy": "rr", "priority": 80},
        )
        cell.started, cell.seconds = STARTED, SAMPLES / 1000
        change(cell)
        cells.append(cell)
    states = {cell.status for cell in cells}
    status = Status.failed if Status.failed in states else Status.complete
    status = Status.partial if Status.partial in states else status
    store.write(synthetic_run(name, cells, status=status), folder)
    return folder


def _said(words: list[str | Path], capsys: Any) -> Any:
    capsys.readouterr()
    call([str(word) for word in words])
    return json.loads(capsys.readouterr().out)


def outcomes(folder: Path, baseline: Path, tmp: Path, capsys: Any) -> dict[str, str]:
    """What each command says of the run, in one word; the baseline meets."""
    found: Run = store.read(folder)
    both = _said(["compare", baseline, folder, "--json"], capsys)
    history = _said(["history", folder, "--store", tmp / "h.sqlite", "--json"], capsys)
    parts = [*history["configurations"], *history["skipped"].values()]
    report = tmp / "report.html"
    call(["report", str(folder), "--out", str(report)])
    page = report.read_text(encoding="utf-8")
    return {
        "check": _of(checked.judge(found)),
        "run": _of(session.judge(found)),
        "report": _overall(re.findall(r'data-outcome="(\w+)"', page)),
        "compare": both["cells"][0]["sides"][1],
        "history": _overall([one["outcome"] for one in parts]),
        "gate": _said(["gate", folder, "--json"], capsys)["outcome"],
        "lab": verdict.of_kernel(judged.points(found.cells, Mode.icount), []).value,
    }


def compared(folder: Path, baseline: Path, capsys: Any) -> str:
    """What the comparison of both says."""
    return str(_said(["compare", baseline, folder, "--json"], capsys)["outcome"])


def _of(verdict: Verdict) -> str:
    return verdict.outcome.value if verdict.outcome else "none"


def _overall(words: list[str]) -> str:
    return overall(map(Outcome, words)).value
