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
from takt.schedule.robot.topics import Rates, measured_rates, topics
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

    Raises TaktError for an application with scenarios, and for a trace of another application.
    ``say`` is called with what is done next.
    """
    application = read_application(file)
    if application.scenarios:
        raise TaktError(
            "a report draws one scenario, and this application has "
            + text.number_of(len(application.scenarios), "scenario"),
            where=application.where(f"'{next(iter(application.scenarios))}'"),
            fix="remove scenarios, default_scenario and switches, or use takt analyse and simulate",
        )
    metrics = rates = None
    if trace is not None:
        say(f"measuring {trace.name}")
        metrics = measure(trace, application=file)
        rates = measured_rates(trace, file)
    document = flat(application)
    with located(application):
        say("simulating")
        simulation = simulate(document, where=str(file))
        say("analysing")
        analysis = analyse(document, str(file), proposals=False)
    write_text(out, render(application, analysis, simulation, metrics, rates))


def render(
    application: Application,
    analysis: Analysis,
    simulation: SimulationResult,
    metrics: Metrics | None,
    rates: Rates | None,
) -> str:
    """Lays the page out."""
    found: Figures = figures(application, analysis, simulation, metrics)
    return (
        page.environment(_PACKAGE)
        .get_template("robot.html.j2")
        .render(
            analysis=analysis,
            robot=found,
            whole=not application.processes,
            topics=topics(application, analysis, simulation, rates),
            measured=metrics is not None,
            verdict=verdict(found, analysis, simulation, metrics),
            evidence=evidence(application, analysis, simulation, metrics),
            graph=drawing(application, found, metrics is not None),
            text=text,
            version=__version__,
            style=page.asset("page.css") + page.asset("robot.css", _PACKAGE),
        )
    )
