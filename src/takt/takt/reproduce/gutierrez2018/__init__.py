# SPDX-License-Identifier: Apache-2.0
"""Gutiérrez et al. 2018: round trips of ROS 2 between two hosts, under load and beside traffic."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from takt.measure.results.model import Run
from takt.reproduce.doubts import finding
from takt.reproduce.evidence import Measured, too_short_for
from takt.reproduce.experiment import measure
from takt.reproduce.gutierrez2018 import between
from takt.reproduce.gutierrez2018.extent import fitted
from takt.reproduce.gutierrez2018.figures import figures
from takt.reproduce.gutierrez2018.findings import CHECKS
from takt.reproduce.gutierrez2018.tables import rows
from takt.reproduce.gutierrez2018.vendors import known, why_not
from takt.reproduce.model import Finding, Outcome, Request
from takt.reproduce.published import Published, read_published
from takt.reproduce.runs import stolen_s
from takt.reproduce.unfinished import points_left

PAPER = "gutierrez2018"
ALL = "all"  # of the findings on several vendors
OWN_CLASS = "own-class-repairs"  # not asked between machines: no scale decides it there
HOSTS = ("controller", "component")  # the paper's machines: a PC and an embedded device


def reproduce(request: Request) -> Outcome:
    """Runs the tests, judges every finding, and draws the paper's figures."""
    measured = measure(PAPER, request, beyond_scale, partial(fitted, request))
    return answers(measured.run, measured.folder, request)


def answers(run: Run, folder: Path, request: Request) -> Outcome:
    """What a run of the tests answers."""
    published = read_published(PAPER)
    measured = Measured(run, folder)
    request.say("judging the findings")
    findings = _judged(published, measured, request)
    request.say("drawing the figures")
    there = set(_stacks(run))
    return published.outcome(
        request,
        folder,
        unfinished=points_left(run),
        findings=findings,
        tables=rows(published, measured),
        figures=figures(published, measured),
        skipped=[f"{one.name}, {why_not(one)}" for one in known(there) if one.stack not in there],
        undecidable=beyond_scale(run),
        stolen_s=stolen_s(run),
    )


def beyond_scale(run: Run) -> list[str]:
    """The findings that a run as it is planned is too short for."""
    asked = [*((stack, CHECKS) for stack in _stacks(run)), (ALL, between.CHECKS)]
    short = too_short_for(PAPER, Measured(run, Path(), planned=True), asked)
    planned = {cell.label for cell in run.cells}
    return [one for one in short if one != OWN_CLASS or "own-class" in planned]


def criteria() -> dict[str, str]:
    """The expression that decides each finding."""
    return {name: check.asked() for name, check in {**CHECKS, **between.CHECKS}.items()}


def _judged(published: Published, measured: Measured, request: Request) -> list[Finding]:
    asked = [(stack, CHECKS) for stack in _stacks(measured.run)]
    return [
        finding(published, name, check, measured, stack, request.draws)
        for stack, checks in [*asked, (ALL, between.CHECKS)]
        for name, check in checks.items()
    ]


def _stacks(run: Run) -> list[str]:
    """The vendors' stacks that are planned or measured, in their order."""
    there = {cell.stack for cell in run.cells}
    return [one.stack for one in known(there) if one.stack in there]
