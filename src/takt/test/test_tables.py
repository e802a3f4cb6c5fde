# SPDX-License-Identifier: Apache-2.0
"""Every table at any width: the figures of a wide terminal stand in a narrow one, too."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import takt
from takt.bench.model import Bar, Bench, Table
from takt.bench.overheads import Document, Overheads
from takt.bench.show import show as show_bench
from takt.bench.show import show_overheads
from takt.cli.compared import table as compared
from takt.doctor.finding import Finding, Severity
from takt.doctor.show import show as show_doctor
from takt.lab.model import KernelResult, Lab, Latency, Verdict
from takt.lab.modes import Mode
from takt.lab.show import show as show_lab
from takt.measure.check.tuned import Worth
from takt.measure.check.tuned import show as show_tuned
from takt.measure.history.accumulate import accumulate
from takt.measure.history.show import show as show_history
from takt.measure.history.store import Configuration, Entry
from takt.measure.statistics.compare_model import Comparison, KeyComparison, Shift
from takt.reproduce.model import Row
from takt.reproduce.show import _show_tables
from takt.schedule.campaign.folder import Folder
from takt.schedule.campaign.model import Totals
from takt.schedule.explain.model import AgainstBounds, CallbackLate, Explanation, ShareKind
from takt.schedule.explain.show import show as show_explanation
from takt.statistics.judgement import Outcome

LONG = "a_name_that_no_terminal_has_room_for" * 3
BIG = 1234567890
FIGURES = {"min_us": 1.5, "avg_us": 9876543.5, "p50_us": 7.5, "p99_us": 8765432.5, "max_us": 1e9}
#: A figure of its own; what is part of a name or of a sentence may be folded with it.
FIGURE = re.compile(r"[-+]?[0-9][0-9.,\u202f]*")


def bench(console: Console) -> None:
    bars = [Bar(name=LONG, value=BIG, limit=BIG, unit="ns", detail={"p50": 123456.5})]
    table = Table(
        table="5.6",
        title=LONG,
        unit="µs",
        published={LONG: {f"figure {n}": n * 1234.5 for n in range(9)}},
        measured={LONG: {f"figure {n}": n * 4321.5 for n in range(9)}},
    )
    show_bench(console, Bench(bench="all", rounds=7, bars=bars, tables=[table]))
    costs = Overheads(**dict.fromkeys(Overheads.model_fields, BIG))
    show_overheads(console, Document(overheads=costs, upper=costs, rounds=7))


def comparison(console: Console) -> None:
    shift = Shift(1.234, 0.033, 290.456)
    cell = KeyComparison(LONG, {"p50": shift, "p99": shift}, lost=(BIG, BIG), regressed=True)
    console.print(compared(Comparison([cell], [], [], [])))


def lab(console: Console) -> None:
    judged: dict[str, Any] = {"outcome": Outcome.fails, "reasons": [LONG]}
    latencies = [
        Latency(what=LONG, load=load, count=BIG, **FIGURES, **judged) for load in ("idle", "loaded")
    ]
    kernel = KernelResult(
        kernel="rt",
        release=LONG,
        mode=Mode.icount,
        preemption="PREEMPT_RT",
        idle_max_us=1,
        loaded_max_us=2,
        outcome=Outcome.fails,
        latencies=latencies,
        results="x",
    )
    show_lab(
        console,
        Lab(
            mode=Mode.icount,
            numbers="instructions",
            load="all",
            seed=1,
            seconds=1,
            kernels=[kernel],
            stock_over_rt_loaded_max=None,
            verdict=Verdict(outcome=Outcome.undecided, headline="none"),
            results="x",
        ),
    )


def history(console: Console) -> None:
    values = np.array([1, 98765432], dtype=np.int64)
    entry: Any = Entry.__new__(Entry)
    given: dict[str, Any] = {
        "kind": "wakeup",
        "stack": "raw",
        "started": "2026-03-02T09:30",
        "bins": (values, np.array([BIG, 1], dtype=np.int64)),
        "count": BIG + 1,
        "lost": BIG,
        "exceeded": BIG,
        "responses": BIG + 1,
        "deadline_us": 1000.0,
        "mean_us": 1.0,
        "stddev_us": 1.0,
        "min_us": 1.0,
        "max_us": 98765432.0,
    }
    for name, value in given.items():
        object.__setattr__(entry, name, value)
    known = Configuration(LONG, "a machine", 1, BIG, "2026")
    show_history(console, [accumulate(known, [entry])])


def campaign(console: Console) -> None:
    from takt.cli import campaign as command

    row = dict.fromkeys(("accepted", "bound_violations", "misses_in_accepted", "failed"), BIG)
    counts = Totals(sets=BIG, **row)
    counts.combinations = [
        {"parameters": {"nodes": 100, "policy": LONG}, "sets": BIG, **row} for _ in range(2)
    ]
    folder: Any = Folder.__new__(Folder)
    folder.path = Path("campaigns/x")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("takt.cli.output.stdout", lambda: console)
        command._show(counts, [], folder)


def explanation(console: Console) -> None:
    causes = dict.fromkeys(ShareKind, BIG)
    one = CallbackLate(
        callback=LONG,
        executions=BIG,
        misses=BIG,
        disturbed=BIG,
        partly=BIG,
        by_cause=causes,
        us_by_kind={},
        response_us=BIG,
        bound_us=BIG,
        above=BIG,
    )
    bounds = AgainstBounds(overheads=True, responses=BIG, above=BIG, by_cause={}, unexplained=0)
    show_explanation(
        console,
        Explanation(
            trace="t",
            source="executor",
            approach=None,
            executions=BIG,
            misses=BIG,
            overdue=0,
            unexplained=0,
            partly=BIG,
            by_cause=causes,
            bounds=bounds,
            callbacks=[one],
            details=[],
            remarks=[],
        ),
    )


def reproduction(console: Console) -> None:
    figures: dict[str, float | str | None] = {f"figure {n}": n * 1234567.5 for n in range(9)}
    row = Row(table="IV", row=LONG, vendor=LONG, published=figures, measured=figures)
    outcome: Any = type("Outcome", (), {"tables": [row]})
    _show_tables(console, outcome)


def tuned(console: Console) -> None:
    shift = Shift(1234.56, 1000.25, 98765.43)
    run: Any = type("Run", (), {"cells": []})
    show_tuned(console, run, [Worth(LONG, "Timer wake-up", shift, shift)])


def doctor(console: Console) -> None:
    good = Finding(
        id="memory",
        title="A title of more than thirty-two columns, which is a lot",
        value="at most 4194304 KiB of 16777216 KiB",
        severity=Severity.good,
        why="",
    )
    show_doctor(console, [good])


TABLES: list[Callable[[Console], None]] = [
    bench,
    comparison,
    lab,
    history,
    campaign,
    explanation,
    reproduction,
    tuned,
    doctor,
]


def figures_at(width: int, show: Callable[[Console], None]) -> list[str]:
    text = io.StringIO()
    show(Console(file=text, width=width, highlight=False))
    words = (word.strip("()") for word in text.getvalue().split())
    return sorted(word for word in words if FIGURE.fullmatch(word))


@pytest.mark.parametrize("show", TABLES, ids=lambda show: show.__name__)
@given(width=st.integers(40, 160))
@settings(deadline=None, max_examples=12)
def test_no_figure_is_cut(show: Callable[[Console], None], width: int) -> None:
    wide = figures_at(5000, show)
    assert len(set(wide)) > 1
    assert set(wide) <= set(figures_at(width, show))


def test_all_tables_are_drawn_in_one_way() -> None:
    """Another table would have to be looked at for itself: the two that are there, are."""
    root = Path(takt.__file__).parent
    own = {"pages/row_table.py", "doctor/show.py"}
    drawn = {
        str(file.relative_to(root))
        for file in root.rglob("*.py")
        if re.search(r"rich\.(table|columns) import", file.read_text(encoding="utf-8"))
    }
    assert drawn == own
