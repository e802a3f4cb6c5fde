# SPDX-License-Identifier: Apache-2.0
"""Writes ``report.html``, the page of a run."""

from __future__ import annotations

from pathlib import Path

from takt.documents.writing import write_text
from takt.measure.report.model import Page, build
from takt.measure.report.order import worst_first
from takt.measure.results.model import Run
from takt.pages import page as pages
from takt.pages import text


def write_report(folder: Path, run: Run, file: Path | None = None) -> Path:
    """Write the report of a run folder (default: ``report.html`` in it) and return its path."""
    target = file or folder / "report.html"
    write_text(target, render(build(folder, run)))
    return target


def render(page: Page) -> str:
    """Lay the page out as HTML."""
    environment = pages.environment("takt.measure.report")
    environment.globals["text"] = text
    return environment.get_template("report.html.j2").render(
        page=page,
        worst_first=worst_first,
        run=page.run,
        style=pages.asset("page.css"),
        script=pages.scripts(("charts.js", "takt.measure.report")),
    )
