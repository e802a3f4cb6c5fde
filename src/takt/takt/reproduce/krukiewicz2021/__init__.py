# SPDX-License-Identifier: Apache-2.0
"""Krukiewicz-Gacek 2021: deadline misses, data freshness and data age of synthetic applications."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from takt.bench.model import Table
from takt.bench.overhead import tables as overhead_tables
from takt.documents.reading import read_json
from takt.documents.writing import write_bytes, write_text
from takt.errors import Failure, TaktError
from takt.measure.results import store
from takt.reproduce.judgement import MEASURING, judge, undecidable
from takt.reproduce.krukiewicz2021.evidence import Evidence, Planned
from takt.reproduce.krukiewicz2021.executions import (
    LEAST_SCALE_OF_ALL,
    Executions,
    Extent,
    execute_all,
)
from takt.reproduce.krukiewicz2021.figures import figures
from takt.reproduce.krukiewicz2021.findings import CHECKS
from takt.reproduce.krukiewicz2021.points import Point, points
from takt.reproduce.krukiewicz2021.tables import rows
from takt.reproduce.model import Outcome, Request, announced, duration_in_words
from takt.reproduce.published import read_published
from takt.reproduce.quantity import Check

PAPER = "krukiewicz2021"
STACK = "rcl"
OVERHEAD_ROUNDS, LEAST_ROUNDS = 7, 4
OVERHEAD = "overhead.json"
SCALE = "scale.json"


def reproduce(request: Request) -> Outcome:
    """Executes the applications, measures the overheads, judges the findings, draws the figures."""
    folder = request.out or store.create_default(PAPER, datetime.now(timezone.utc))
    folder.mkdir(parents=True, exist_ok=True)
    extent = Extent.at(request.scale)
    keep_scale(folder, request.scale)
    left = extent.left(folder)
    request.announce(announced(len(left), extent.seconds(left), folder, beyond_scale(extent)))
    done = execute_all(extent, folder, request.say)
    overhead = _overhead(request, folder, done)
    return answers(extent, done, overhead, folder, request)


def answers(
    extent: Extent, done: Executions, overhead: list[Table], folder: Path, request: Request
) -> Outcome:
    """What the executions answer."""
    published = read_published(PAPER)
    evidence = Evidence(done.metrics, overhead)
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
        unfinished=done.unfinished(extent),
        findings=findings,
        tables=rows(published, evidence, overhead),
        figures=figures(published, evidence, folder, overhead),
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


def keep_scale(folder: Path, scale: float) -> None:
    """Refuses to go on with a folder at another scale: its runs have another length."""
    kept = folder / SCALE
    if not kept.exists():
        write_text(kept, json.dumps({"scale": scale}) + "\n")
        return
    known = read_json(kept)["scale"]
    if known != scale:
        raise TaktError(
            f"the reproduction in this folder has scale {known:g}, not {scale:g}",
            where=str(kept),
            fix=f"continue with --scale {known:g}, or start a new one without --out",
        )


def _overhead(request: Request, folder: Path, done: Executions) -> list[Table]:
    """Tables 5.6 to 5.8 as ``takt bench dispatch`` measures them; kept for the next time."""
    from pydantic import TypeAdapter

    kept, adapter = folder / OVERHEAD, TypeAdapter(list[Table])
    if not kept.exists():
        if done.left:
            done.overhead_left = True
            return []
        rounds = max(
            LEAST_ROUNDS, min(OVERHEAD_ROUNDS, round(OVERHEAD_ROUNDS * 10 * request.scale))
        )
        try:
            measured = overhead_tables(rounds, max(os.sched_getaffinity(0)), request.say)
        except Failure as failure:
            done.overhead_failed = failure.what
            return []
        write_bytes(kept, adapter.dump_json(measured))
    return adapter.validate_json(kept.read_bytes())
