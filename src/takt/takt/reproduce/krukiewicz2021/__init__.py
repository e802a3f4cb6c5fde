# SPDX-License-Identifier: Apache-2.0
"""Krukiewicz-Gacek 2021: deadline misses, data freshness and data age of synthetic applications."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from takt.bench.model import Table
from takt.measure.results import store
from takt.reproduce.judgement import MEASURING, judge, undecidable
from takt.reproduce.krukiewicz2021.beginning import COPY, RCLCPP, Baselines, begin
from takt.reproduce.krukiewicz2021.evidence import Evidence, Planned
from takt.reproduce.krukiewicz2021.executions import (
    LEAST_SCALE_OF_ALL,
    Executions,
    Extent,
    execute_all,
)
from takt.reproduce.krukiewicz2021.figures import figures
from takt.reproduce.krukiewicz2021.findings import CHECKS
from takt.reproduce.krukiewicz2021.overhead import kept_or_measured
from takt.reproduce.krukiewicz2021.points import Point, points
from takt.reproduce.krukiewicz2021.tables import rows
from takt.reproduce.model import Outcome, Request, announced, duration_in_words
from takt.reproduce.published import read_published
from takt.reproduce.quantity import Check

PAPER = "krukiewicz2021"
STACK = "rcl"


def reproduce(request: Request) -> Outcome:
    """Executes the applications, measures the overheads, judges the findings, draws the figures."""
    folder = request.out or store.create_default(PAPER, datetime.now(timezone.utc))
    folder.mkdir(parents=True, exist_ok=True)
    extent = Extent.at(request.scale)
    baselines = begin(folder, request.scale).baselines
    left = extent.left(folder)
    request.announce(announced(len(left), extent.seconds(left), folder, beyond_scale(extent)))
    done = execute_all(extent, folder, request.say, baselines)
    costs = kept_or_measured(request, folder, done, baselines)
    return answers(extent, done, costs, folder, request, baselines)


def answers(
    extent: Extent,
    done: Executions,
    costs: list[Table],
    folder: Path,
    request: Request,
    baselines: Baselines = COPY,
) -> Outcome:
    """What the executions and the costs of the executors answer."""
    published = read_published(PAPER)
    evidence = Evidence(done.metrics, costs)
    request.say("judging the findings")
    skipped: list[str] = []
    if extent.left_out:
        skipped.append(
            f"{extent.left_out} of {extent.left_out + len(extent.points)} points, for the scale"
        )
    findings = []
    for name, check in CHECKS.items():
        answer = judge(check, published.findings[name].values, evidence, request.draws)
        asked = _points_of(check, extent)
        if lacking := _lacking(asked, extent, done):
            answer = replace(answer, needs=lacking)
        finding = published.finding(name, STACK, answer)
        findings.append(finding.model_copy(update={"doubts": evidence.silent(asked)}))
    request.say("drawing the figures")
    return published.outcome(
        request,
        folder,
        other=published.by_rclcpp if baselines == RCLCPP else [],
        unfinished=done.unfinished(extent),
        findings=findings,
        tables=rows(published, evidence, costs),
        figures=figures(published, evidence, folder, costs),
        skipped=skipped,
        undecidable=beyond_scale(extent),
        stolen_s=round(evidence.all_stolen_ms() / 1000, 1),
    )


def _points_of(check: Check[Evidence], extent: Extent) -> set[Point]:
    """The points that a finding is about."""
    planned = Planned({point: extent.runs * extent.length_of(point) for point in points()})
    for quantity in check.quantities.values():
        quantity.of(planned)
    return planned.asked


def _lacking(asked: set[Point], extent: Extent, done: Executions) -> str:
    """What it would take to execute the points that a finding is about; empty where they were."""
    missing = sorted((one for one in asked if not done.metrics.get(one)), key=str)
    if not missing:
        return ""
    takes = extent.seconds([(one, run) for one in missing for run in range(extent.runs)])
    words = (
        f"{len(missing)} of {len(asked)} points that were not executed "
        f"({missing[0].name}{', …' if len(missing) > 1 else ''}): {duration_in_words(takes)}"
    )
    all_of_them = f"; --scale {LEAST_SCALE_OF_ALL:.2g} has them" if extent.left_out else ""
    return f"{words}{MEASURING}{all_of_them}"


def beyond_scale(extent: Extent) -> list[str]:
    """The findings that speak of points which this scale leaves out."""
    values = {name: claim.values for name, claim in read_published(PAPER).findings.items()}
    seconds = {point: extent.runs * extent.length_of(point) for point in extent.points}
    return undecidable(CHECKS, values, Planned(seconds))


def criteria() -> dict[str, str]:
    """The expression that decides each finding."""
    return {name: check.asked() for name, check in CHECKS.items()}
