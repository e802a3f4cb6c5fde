# SPDX-License-Identifier: Apache-2.0
"""Krukiewicz-Gacek 2021: deadline misses, data freshness and data age of synthetic applications."""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path

from takt.bench.model import Table
from takt.bench.overhead import tables as overhead_tables
from takt.documents.reading import read_json
from takt.documents.writing import write_bytes, write_text
from takt.errors import Failure, TaktError
from takt.measure.results import store
from takt.reproduce.judgement import Missing, judge, undecidable
from takt.reproduce.krukiewicz2021.evidence import Evidence, Planned, in_ms
from takt.reproduce.krukiewicz2021.executions import LEAST_RUNS, Executions, Extent, execute_all
from takt.reproduce.krukiewicz2021.figures import figures
from takt.reproduce.krukiewicz2021.findings import CHECKS
from takt.reproduce.krukiewicz2021.points import HARMONIC, KB, NODES, WITH_CONSTRAINT, Point
from takt.reproduce.model import Outcome, Request, Row, announced
from takt.reproduce.published import Published, read_published

PAPER = "krukiewicz2021"
STACK = "rcl"
OVERHEAD_ROUNDS = 7
OVERHEAD = "overhead.json"
SCALE = "scale.json"
NAMES = {
    "baseline0": "baseline0",
    "baseline1": "baseline1",
    "takt": "Takt",
    WITH_CONSTRAINT: "Takt, data-age constraint",
}


def reproduce(request: Request) -> Outcome:
    """Executes the applications, measures the overheads, judges the findings, draws the figures."""
    folder = request.out or store.create_default(PAPER, datetime.now(timezone.utc))
    folder.mkdir(parents=True, exist_ok=True)
    extent = Extent.at(request.scale)
    keep_scale(folder, request.scale)
    left = extent.left(folder)
    request.tell(announced(len(left), extent.seconds(left), folder, cannot_tell(extent)))
    done = execute_all(extent, folder, request.say)
    overhead = [] if done.stopped else _overhead(request, folder)
    return answers(extent, done, overhead, folder, request)


def answers(
    extent: Extent, done: Executions, overhead: list[Table], folder: Path, request: Request
) -> Outcome:
    """What the executions answer."""
    published = read_published(PAPER)
    evidence = Evidence(done.metrics, overhead)
    request.say("judging the findings")
    skipped = list(done.failed)
    if extent.left_out:
        skipped.append(
            f"{extent.left_out} of {extent.left_out + len(extent.points)} points, for the scale"
        )
    findings = [
        published.finding(
            name, STACK, judge(check, published.findings[name].values, evidence, request.draws)
        )
        for name, check in CHECKS.items()
    ]
    request.say("drawing the figures")
    return published.outcome(
        request,
        folder,
        complete=not done.stopped and not done.failed,
        findings=findings,
        tables=[
            *_overhead_rows(overhead),
            *_age_rows(published, evidence),
            *_cost_rows(evidence),
        ],
        figures=figures(published, evidence, folder),
        skipped=skipped,
        undecidable=cannot_tell(extent),
    )


def cannot_tell(extent: Extent) -> list[str]:
    """The findings that speak of points which this scale leaves out."""
    values = {name: claim.values for name, claim in read_published(PAPER).findings.items()}
    return undecidable(CHECKS, values, Planned(dict.fromkeys(extent.points, ()), []))


def criteria() -> dict[str, str]:
    """The expression that decides each finding."""
    return {name: check.criterion for name, check in CHECKS.items()}


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
            remedy=f"go on with --scale {known:g}, or start a new one without --out",
        )


def _overhead(request: Request, folder: Path) -> list[Table]:
    """Tables 5.6 to 5.8 as ``takt bench dispatch`` measures them; kept for the next time."""
    from pydantic import TypeAdapter

    kept, adapter = folder / OVERHEAD, TypeAdapter(list[Table])
    if not kept.exists():
        rounds = max(LEAST_RUNS, min(OVERHEAD_ROUNDS, round(OVERHEAD_ROUNDS * 10 * request.scale)))
        try:
            measured = overhead_tables(rounds, max(os.sched_getaffinity(0)), request.say)
        except Failure as failure:
            request.say(failure.what)
            return []
        write_bytes(kept, adapter.dump_json(measured))
    return adapter.validate_json(kept.read_bytes())


def _overhead_rows(tables: list[Table]) -> list[Row]:
    """Side by side stand different things: a call there, all CPU time between callbacks here."""
    rows = {
        "baseline0": ("baseline0", "baseline0", "one get_next_executable() of baseline0"),
        "scheduling executor": ("thesis", "takt", "one get_next_executable() of the thesis's"),
    }
    return [
        Row(
            table=table.table,
            row=row,
            paper=what,
            vendor=f"CPU time between callbacks of {NAMES[ours]}",
            published={f"{key}_us": value for key, value in table.published[theirs].items()},
            measured={f"{key}_us": value for key, value in table.measured[ours].items()},
        )
        for table in tables
        for row, (theirs, ours, what) in rows.items()
    ]


def _age_rows(published: Published, evidence: Evidence) -> list[Row]:
    rows = []
    for one in published.tables:
        point = Point("age", one.point["approach"], one.point["nodes"], 0.75, 512 * KB, HARMONIC)
        try:
            age = evidence.age(point)
        except Missing:
            continue
        rows.append(
            Row(
                table=one.table,
                row=one.row,
                paper=one.paper,
                vendor=NAMES[point.approach],
                published=one.published,
                measured=in_ms(age),
            )
        )
    return rows


def _cost_rows(evidence: Evidence) -> list[Row]:
    """Not in the thesis: what the others have of it that the data is kept young."""
    rows = []
    for nodes in NODES:
        for approach in ("takt", WITH_CONSTRAINT):
            try:
                others = evidence.others(Point("age", approach, nodes, 0.75, 512 * KB, HARMONIC))
            except Missing:
                continue
            rows.append(
                Row(
                    table="What the data-age constraint costs the generated callbacks",
                    row=f"{nodes} nodes",
                    vendor=NAMES[approach],
                    published={},
                    measured=others,
                )
            )
    return rows
