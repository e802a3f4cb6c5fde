# SPDX-License-Identifier: Apache-2.0
"""Writes the page of a robot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from takt import __version__
from takt.documents.writing import write_text
from takt.errors import TaktError
from takt.pages import page, text
from takt.schedule.analysis.ask import analyse
from takt.schedule.analysis.model import Analysis
from takt.schedule.application.file import located, read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.model import Application
from takt.schedule.metrics import measure
from takt.schedule.metrics.model import Metrics
from takt.schedule.robot.drawing import drawing
from takt.schedule.robot.evidence import evidence
from takt.schedule.robot.figures import Figures, figures
from takt.schedule.robot.verdict import verdict
from takt.schedule.simulation.model import SimulationResult
from takt.schedule.simulation.simulate import simulate

_PACKAGE = "takt.schedule.robot"


def write_page(
    file: Path,
    out: Path,
    trace: Path | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> None:
    """Analyses and simulates the robot in ``file``, measures ``trace``, and writes ``out``.

    Raises TaktError for an application without processes, and for a trace of another application.
    ``say`` is called with what is done next.
    """
    application = read_application(file)
    if not application.processes:
        raise TaktError(
            "this application has no processes; a report draws those of a robot",
            where=str(file),
            fix="add processes, or use takt analyse and takt simulate",
        )
    metrics = None
    if trace is not None:
        say(f"measuring {trace.name}")
        metrics = measure(trace, application=file)
    document = flat(application)
    with located(application):
        say("simulating")
        simulation = simulate(document, where=str(file))
        say("analysing")
        analysis = analyse(document, str(file), proposals=False)
    write_text(out, render(application, analysis, simulation, metrics))


def render(
    application: Application,
    analysis: Analysis,
    simulation: SimulationResult,
    metrics: Metrics | None,
) -> str:
    """Lays the page out."""
    found: Figures = figures(application, analysis, simulation, metrics)
    (scenario,) = analysis.scenarios
    return (
        page.environment(_PACKAGE)
        .get_template("robot.html.j2")
        .render(
            analysis=analysis,
            robot=found,
            scenario=scenario,
            measured=metrics is not None,
            verdict=verdict(found, analysis, simulation, metrics),
            evidence=evidence(application, analysis, simulation, metrics),
            graph=drawing(application, found, metrics is not None),
            text=text,
            version=__version__,
            style=page.asset("page.css") + page.asset("robot.css", _PACKAGE),
        )
    )
