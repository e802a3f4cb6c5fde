# SPDX-License-Identifier: Apache-2.0
"""Sticha 2014: the three real-time test suites of ROS, for ROS 2 and ROS 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from takt.measure.results.model import Run, Status
from takt.reproduce.experiment import measure
from takt.reproduce.judgement import Missing
from takt.reproduce.model import Answer, Outcome, Request
from takt.reproduce.published import load
from takt.reproduce.sticha2014 import cyclic, general, oneshot, pubsub
from takt.reproduce.sticha2014.evidence import Evidence
from takt.reproduce.sticha2014.figures import figures
from takt.reproduce.sticha2014.tables import rows

PAPER = "sticha2014"
STACKS = ("rcl", "ros1")
BARE = ("raw", "cyclictest")
CHECKS = oneshot.CHECKS | cyclic.CHECKS | pubsub.CHECKS | general.CHECKS


def reproduce(request: Request) -> Outcome:
    """Runs the suites, judges every finding, and draws the thesis's figures."""
    measured = measure(PAPER, request)
    outcome = answers(measured.run, measured.folder, request)
    outcome.skipped = [f"{note.why}; {note.fix}" for note in measured.skipped]
    return outcome


def answers(run: Run, folder: Path, request: Request) -> Outcome:
    """What a run of the suites answers."""
    published = load(PAPER)
    measured = {cell.stack for cell in run.cells if cell.statistics}
    there = [Evidence(run, folder, stack) for stack in STACKS if stack in measured]
    bare = [Evidence(run, folder, stack) for stack in BARE if stack in measured]
    request.say("judging the findings")
    findings = [
        published.finding(name, one.stack, _judged(check, one))
        for one in there
        for name, check in CHECKS.items()
    ]
    request.say("drawing the figures")
    return Outcome(
        paper=PAPER,
        title=published.title,
        scale=request.scale,
        complete=run.status is Status.complete,
        findings=findings,
        tables=rows(published, [*there, *bare]),
        figures=figures([*there, *bare], folder),
        results=str(folder),
    )


def _judged(check: Callable[[Evidence], Answer], evidence: Evidence) -> Answer:
    """The answer of a check; where its points have no samples, it is undecided and says why."""
    try:
        return check(evidence)
    except Missing as missing:
        return Answer("the points were measured", None, {}, needs=str(missing))
