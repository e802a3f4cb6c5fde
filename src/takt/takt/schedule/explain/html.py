# SPDX-License-Identifier: Apache-2.0
"""An explanation as one HTML file: causes, and the neighbourhood of the latest jobs as charts."""

from __future__ import annotations

from pathlib import Path

from takt.documents.writing import write_text
from takt.pages import page
from takt.schedule.explain.model import Explanation, Late
from takt.schedule.explain.show import (
    above_bounds,
    chain_lines,
    label,
    lateness,
    misses,
    programs,
    sentence,
    why_above,
)

CHARTS = 20  # jobs with a chart: those that were latest


def write_html(explanation: Explanation, file: Path) -> None:
    """Writes the report; a reader never sees half of it."""
    write_text(file, render(explanation))


def render(explanation: Explanation) -> str:
    """Lay the page out."""
    latest = sorted(explanation.details, key=lateness, reverse=True)[:CHARTS]
    by_callback: dict[str, list[tuple[int, Late]]] = {}
    for number, late in enumerate(latest):
        by_callback.setdefault(late.callback, []).append((number, late))
    environment = page.environment("takt.schedule.explain")
    charts = [_chart(late, explanation.threads) for late in latest]
    return environment.get_template("explain.html.j2").render(
        explanation=explanation,
        causes=list(explanation.by_cause),
        latest=by_callback,
        sentence=sentence,
        misses=misses(explanation),
        above_bounds=above_bounds(explanation),
        chain_lines=chain_lines(explanation),
        why_above=why_above,
        programs=programs,
        label=label,
        style=page.asset("page.css"),
        chart_data=charts,
        script=page.scripts(("gantt.js", "takt.schedule.explain")),
    )


def _chart(late: Late, threads: dict[int, str]) -> dict[str, object]:
    """One row a callback, in the order of appearance, the one that was late on top."""
    rows = [late.callback]
    rows += [
        name
        for name in dict.fromkeys(bar.task for bar in late.neighbourhood)
        if name != late.callback
    ]
    marks: list[dict[str, object]] = [{"at": 0.0, "text": "released"}]
    if late.deadline_us is not None:
        marks.append({"at": late.deadline_us / 1000, "text": "deadline"})
    if late.above is not None:
        marks.append({"at": late.above.bound_us / 1000, "text": "bound"})
    marks.append({"at": late.end_us / 1000, "text": "ended"})
    return {
        "rows": rows,
        "bars": [
            {
                "row": bar.task,
                "begin": bar.begin_us / 1000,
                "length": (bar.end_us - bar.begin_us) / 1000,
                "mine": bar.task == late.callback and bar.job == late.job,
                "text": f"{bar.task}[{bar.job}] on " + threads.get(bar.core, f"core {bar.core}"),
            }
            for bar in late.neighbourhood
        ],
        "marks": marks,
    }
