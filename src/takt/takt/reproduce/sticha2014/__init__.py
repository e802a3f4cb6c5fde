# SPDX-License-Identifier: Apache-2.0
"""Sticha 2014: the three real-time test suites of ROS, for ROS 2 and ROS 1."""

from __future__ import annotations

from pathlib import Path

from takt.measure.results.model import Run
from takt.reproduce.doubts import finding
from takt.reproduce.evidence import Evidence, too_short_for
from takt.reproduce.experiment import measure
from takt.reproduce.model import Outcome, Request
from takt.reproduce.published import read_published
from takt.reproduce.runs import stolen_s
from takt.reproduce.sticha2014 import cyclic, general, logs, oneshot, pubsub
from takt.reproduce.sticha2014.evidence import Measured
from takt.reproduce.sticha2014.figures import figures
from takt.reproduce.sticha2014.quantities import Checked
from takt.reproduce.sticha2014.tables import rows
from takt.reproduce.unfinished import points_left

PAPER = "sticha2014"
STACKS = ("rcl", "ros1")
BARE = ("cyclictest", "raw")
CHECKS = oneshot.CHECKS | cyclic.CHECKS | pubsub.CHECKS | general.CHECKS
BARE_CHECKS = oneshot.BARE_CHECKS


def reproduce(request: Request) -> Outcome:
    """Runs the suites, judges every finding, and draws the thesis's figures."""
    measured = measure(PAPER, request, beyond_scale)
    outcome = answers(measured.run, measured.folder, request)
    outcome.skipped = [f"{note.why}; {note.fix}" for note in measured.skipped]
    return outcome


def answers(run: Run, folder: Path, request: Request) -> Outcome:
    """What a run of the suites answers."""
    published = read_published(PAPER)
    measured = Measured(run, folder)
    there = [Evidence(measured, stack) for stack in _stacks(run) if stack in STACKS]
    bare = [Evidence(measured, stack) for stack in _stacks(run) if stack in BARE]
    request.say("judging the findings")
    findings = [
        finding(published, name, check, measured, one.stack, request.draws)
        for one in (*there, *bare[:1])
        for name, check in _checks(one.stack).items()
    ]
    request.say("writing the logs")
    logs.write(run, folder)
    request.say("drawing the figures")
    return published.outcome(
        request,
        folder,
        unfinished=points_left(run),
        findings=findings,
        tables=rows(published, [*there, *bare]),
        figures=figures(published, [*there, *bare]),
        undecidable=beyond_scale(run),
        stolen_s=stolen_s(run),
    )


def beyond_scale(run: Run) -> list[str]:
    """The findings that a run as it is planned is too short for."""
    stacks = _stacks(run)
    asked = [*(one for one in stacks if one in STACKS), *[o for o in stacks if o in BARE][:1]]
    planned = Measured(run, Path(), planned=True)
    return too_short_for(PAPER, planned, [(one, _checks(one)) for one in asked])


def criteria() -> dict[str, str]:
    """The expression that decides each finding."""
    return {name: check.asked() for name, check in {**CHECKS, **BARE_CHECKS}.items()}


def _checks(stack: str) -> dict[str, Checked]:
    return CHECKS if stack in STACKS else BARE_CHECKS


def _stacks(run: Run) -> list[str]:
    """What is planned or measured, in the order of the report."""
    return [one for one in (*STACKS, *BARE) if any(cell.stack == one for cell in run.cells)]
