# SPDX-License-Identifier: Apache-2.0
"""Writes the page of a robot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from takt import __version__
from takt.documents.writing import write_text
from takt.pages import page, text
from takt.schedule.analysis.ask import analyse
from takt.schedule.analysis.model import ScenarioBounds
from takt.schedule.application.file import located, read_application
from takt.schedule.application.flat import flat
from takt.schedule.application.model import Application
from takt.schedule.metrics import measure
from takt.schedule.metrics.model import Metrics
from takt.schedule.robot.crossings import crossings
from takt.schedule.robot.drawing import drawing
from takt.schedule.robot.evidence import evidence
from takt.schedule.robot.figures import Figures, figures
from takt.schedule.robot.stays import measured_stays
from takt.schedule.robot.topics import Rates, Topic, measured_rates, topics
from takt.schedule.robot.verdict import verdict
from takt.schedule.simulation.model import SimulationResult
from takt.schedule.simulation.simulate import simulate
from takt.schedule.view.graph import Graph

_PACKAGE = "takt.schedule.robot"


@dataclass(frozen=True)
class View:
    """What the page draws of one scenario."""

    scenario: str | None  # None: it is the only one
    key: str  # ends the anchors of its parts
    robot: Figures
    topics: list[Topic]
    graph: Graph


def write_page(
    file: Path,
    out: Path,
    trace: Path | None = None,
    overheads: dict[str, int] | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> None:
    """Analyses and simulates the robot in ``file``, measures ``trace``, and writes ``out``.

    ``overheads``, in ns, replace those of the file. Raises TaktError for a trace of another
    application. ``say`` is called with what is done next.
    """
    application = read_application(file)
    metrics = rates = stays = None
    if trace is not None:
        say(f"measuring {trace.name}")
        metrics = measure(trace, application=file)
        if len(application.scenarios) > 1:
            stays = measured_stays(trace, file, metrics)
        else:
            rates = measured_rates(trace, file)
    document = flat(application)
    if overheads is not None:
        document["overheads"] = overheads
    with located(application):
        say("simulating")
        simulation = simulate(document, where=str(file))
        say("analysing")
        analysis = analyse(document, str(file), proposals=False)
        simulated = {one.name: simulation for one in analysis.scenarios}
        if len(simulated) > 1:
            for name in simulated:
                say(f"simulating scenario {name}")
                simulated[name] = simulate(_only(document, name), where=str(file))
    views = [
        _view(
            application,
            scenario,
            simulated[scenario.name],
            stays.scenarios.get(scenario.name) if stays else metrics,
            rates,
            number if len(simulated) > 1 else None,
        )
        for number, scenario in enumerate(analysis.scenarios)
    ]
    found = [view.robot for view in views]
    text_of_page = (
        page.environment(_PACKAGE)
        .get_template("robot.html.j2")
        .render(
            analysis=analysis,
            views=views,
            robot=found[0],
            whole=not application.processes,
            measured=metrics is not None,
            rated=rates is not None,
            verdict=verdict(found, analysis, simulation, metrics),
            evidence=evidence(application, analysis, simulation, metrics),
            crossings=crossings(analysis, simulation, stays) if len(views) > 1 else [],
            switches=application.switches,
            text=text,
            version=__version__,
            style=page.asset("page.css") + page.asset("robot.css", _PACKAGE),
        )
    )
    write_text(out, text_of_page)


def _only(document: dict[str, Any], scenario: str) -> dict[str, Any]:
    """The application as long as it stays in a scenario."""
    return document | {"default_scenario": scenario, "switches": []}


def _view(
    application: Application,
    scenario: ScenarioBounds,
    simulation: SimulationResult,
    metrics: Metrics | None,
    rates: Rates | None,
    number: int | None,
) -> View:
    found = figures(application, scenario, simulation, metrics)
    return View(
        None if number is None else scenario.name,
        "" if number is None else f"-{number}",
        found,
        topics(application, scenario, simulation, rates),
        drawing(application, found, metrics is not None),
    )
