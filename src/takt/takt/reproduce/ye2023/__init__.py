# SPDX-License-Identifier: Apache-2.0
"""Ye et al. 2023: ROS 1 and ROS 2 by size, QoS, transport, frequency and subscribers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console

from takt.machine.system import System
from takt.measure.results.model import Run
from takt.network import namespace, stacks
from takt.reproduce.beside import beside as beside_runs
from takt.reproduce.beside.model import Beside
from takt.reproduce.beside.show import show
from takt.reproduce.doubts import finding
from takt.reproduce.evidence import Measured, too_short_for
from takt.reproduce.experiment import measure
from takt.reproduce.model import Outcome, Request
from takt.reproduce.published import read_published
from takt.reproduce.runs import stolen_s
from takt.reproduce.unfinished import points_left
from takt.reproduce.ye2023 import beside as beside
from takt.reproduce.ye2023 import between
from takt.reproduce.ye2023.extent import fitted
from takt.reproduce.ye2023.figures import figures
from takt.reproduce.ye2023.findings import CHECKS
from takt.reproduce.ye2023.guest import guest_experiment as guest_experiment
from takt.reproduce.ye2023.guest import keep_of_guest as keep_of_guest
from takt.reproduce.ye2023.kernels import WAKEUPS
from takt.reproduce.ye2023.quantities import WAKEUP, Checked
from takt.reproduce.ye2023.tables import rows

PAPER = "ye2023"
ALL = "all"  # of the findings on several stacks
OTHERS = {
    "ros1": "ROS 1",
    "cyclonedds": "Cyclone DDS",
    "rustdds": "RustDDS",
    "rclcpp": "rclcpp, messages by pointer",
    "ethercat": "EtherCAT",
}


def reproduce(request: Request) -> Outcome:
    """Runs the measurements, judges every finding, and draws the paper's figures."""
    measured = measure(PAPER, request, beyond_scale, fitted)
    return answers(measured.run, measured.folder, request, System())


def answers(run: Run, folder: Path, request: Request, system: System | None = None) -> Outcome:
    """What a run of the measurements answers; without ``system`` another machine measured it."""
    published = read_published(PAPER)
    measured = Measured(run, folder)
    request.say("judging the findings")
    findings = [
        finding(published, name, check, measured, stack, request.draws)
        for stack, checks in _asked(run)
        for name, check in checks.items()
    ]
    request.say("drawing the figures")
    there = {cell.stack for cell in run.cells}
    return published.outcome(
        request,
        folder,
        unfinished=points_left(run),
        findings=findings,
        tables=rows(published, measured, system or System(folder), request.draws),
        figures=figures(published, measured, request.draws),
        skipped=[
            f"{name}, {_why_not(stack)}" for stack, name in OTHERS.items() if stack not in there
        ],
        undecidable=beyond_scale(run),
        stolen_s=stolen_s(run),
    )


def beyond_scale(run: Run) -> list[str]:
    """The findings that a run as it is planned is too short for."""
    return too_short_for(PAPER, Measured(run, Path(), planned=True), _asked(run))


def beside_of_guests(folders: Sequence[Path], out: Path, say: Callable[[str], None]) -> Beside:
    """The runs of guests on one page."""
    return beside_runs(PAPER, sys.modules[__name__], folders, out, say)


def show_guests(console: Console, found: Beside) -> None:
    """Prints them."""
    show(console, found)


def criteria() -> dict[str, str]:
    """The expression that decides each finding."""
    every = {**WAKEUPS, **between.CHECKS}
    for checks in CHECKS.values():
        every |= checks
    return {name: check.asked() for name, check in every.items()}


def _asked(run: Run) -> Iterator[tuple[str, dict[str, Checked]]]:
    """The checks of each stack that is planned or measured, then those on several."""
    for cell in run.cells:
        if cell.label == WAKEUP:
            yield cell.stack, WAKEUPS
            break
    for stack, checks in CHECKS.items():
        if any(cell.stack == stack and cell.label != WAKEUP for cell in run.cells):
            yield stack, checks
    yield ALL, between.CHECKS


def _why_not(stack: str) -> str:
    if stack not in stacks.find():
        how = f"; ./takt setup {stack} installs it" if stack in stacks.ON_REQUEST else ""
        return f"not measured: not installed{how}"
    if stack == "ethercat" and (lacking := namespace.lacking()):
        return f"not measured: {lacking[0]}; {lacking[1]}"
    return "not measured: its probe has no publisher and subscriber of such sizes"
