# SPDX-License-Identifier: Apache-2.0
"""Writes ``report.html``: one file that needs nothing else, not even a network."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from takt.report import text
from takt.report.model import Page, build
from takt.results.model import Run


def write_report(folder: Path, run: Run, file: Path | None = None) -> Path:
    """Write the report of a run folder (default: ``report.html`` in it) and return its path."""
    target = file or folder / "report.html"
    content = render(build(folder, run))
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        partial.write_text(content, encoding="utf-8")
        partial.replace(target)  # a reader never sees half a report
    finally:
        partial.unlink(missing_ok=True)
    return target


def render(page: Page) -> str:
    """Lay the page out as HTML."""
    environment = Environment(
        loader=PackageLoader("takt.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["text"] = text
    return environment.get_template("report.html.j2").render(
        page=page,
        run=page.run,
        style=asset("report.css"),
        script=asset("charts.js"),
        plotly=plotly(),
    )


def asset(name: str) -> str:
    """Return a file that is laid into the page."""
    return (resources.files("takt.report") / "templates" / name).read_text(encoding="utf-8")


def plotly() -> str:
    """Return plotly.js, made safe to stand inside a script element."""
    source = resources.files("plotly") / "package_data" / "plotly.min.js"
    return source.read_text(encoding="utf-8").replace("</script", "<\\/script")
