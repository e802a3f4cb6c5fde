# SPDX-License-Identifier: Apache-2.0
"""Executes the applications of a campaign for real: one at a time, on this machine alone.

As in Krukiewicz-Gacek 2021, section 5.2: each application several times, for a strict time, in
random order, so that what the machine does over the hours does not fall on one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from takt.errors import TaktError
from takt.schedule.campaign import batch as work
from takt.schedule.campaign.folder import Folder, write_table
from takt.schedule.campaign.model import EXECUTIONS, Campaign
from takt.schedule.explain import explain
from takt.schedule.explain.model import ShareKind
from takt.schedule.generate.blocks import Generated


@dataclass(frozen=True)
class Turn:
    """One execution."""

    order: int
    application: int
    approach: str
    number: int  # of those of one application by one approach

    def name(self, application: Generated) -> str:
        """Of its files."""
        return f"{application.name}.{self.approach}.{self.number}"


def turns(campaign: Campaign, applications: int) -> list[Turn]:
    """All executions in their random order: every application once before any of them again."""
    assert campaign.execution is not None  # noqa: S101 - asked for by the caller
    rng = np.random.default_rng([campaign.seed, 1])
    points = [(a, p) for a in range(applications) for p in campaign.execution.approaches]
    order: list[Turn] = []
    for number in range(campaign.execution.executions):
        for place in rng.permutation(len(points)).tolist():
            application, approach = points[place]
            order.append(Turn(len(order), application, approach, number))
    return order


def execute(
    folder: Folder, campaign: Campaign, begin: Callable[[int, int, str], None]
) -> Iterator[str | None]:
    """Executes what is not done; gives the error, or None, of each execution."""
    applications = [
        one for batch in campaign.batches()
        for one in work.applications(
            campaign.space, campaign.seed, batch, campaign.overheads, campaign.cores
        )
    ]  # fmt: skip
    order = turns(campaign, len(applications))
    for turn in order:
        application = applications[turn.application]
        file = folder.executions / f"{turn.name(application)}.parquet"
        if file.exists():
            continue
        begin(turn.order, len(order), turn.name(application))
        row = _execute(folder, campaign, turn, application)
        if row["status"] == "stopped":
            raise KeyboardInterrupt
        # What failed is kept under another name, so that it is counted, and tried again next time.
        failed = file.with_suffix(".failed.parquet")
        write_table(
            file if row["error"] is None else failed, pa.Table.from_pylist([row], schema=EXECUTIONS)
        )
        if row["error"] is None:
            failed.unlink(missing_ok=True)
        yield row["error"]


def _execute(
    folder: Folder, campaign: Campaign, turn: Turn, application: Generated
) -> dict[str, Any]:
    from takt.schedule.execution import execute as executed
    from takt.schedule.metrics import measure

    assert campaign.execution is not None  # noqa: S101 - see turns()
    row: dict[str, Any] = {
        "name": application.name,
        "approach": turn.approach,
        "execution": turn.number,
        "order": turn.order,
        "status": "failed",
        "error": None,
    }
    trace = folder.traces / f"{turn.name(application)}.takttrace"
    try:
        done = executed(
            application.flat,
            turn.approach,
            trace=trace,
            duration_s=campaign.execution.duration_s,
            seed=campaign.seed,
        )
        found = measure(done.trace)
    except TaktError as error:
        return row | {"error": str(error)}
    row |= {
        "status": done.status,
        "executions": found.executions,
        "misses": found.misses,
        "mean_miss_ratio": found.mean_miss_ratio,
        "steal_seconds": done.steal_seconds,
        "not_granted": done.not_granted,
    }
    if done.status == "complete" and not found.executions:
        trace.unlink(missing_ok=True)
        what = "; disturbance: ".join(["no job was executed", *done.disturbances])
        return row | {"status": "failed", "error": what}
    if found.freshness is not None:
        row["on_old_data"] = found.freshness.on_old_data
        row["mean_old_data_ratio"] = found.freshness.mean_ratio
    above = 0
    if turn.approach == "takt":
        above = _compare(row, application, trace, supplied=campaign.cores is not None)
    # Without overheads every response is a little above its bound.
    if found.misses or (above and campaign.overheads is not None):
        row["trace"] = str(trace.relative_to(folder.path))
    else:
        trace.unlink(missing_ok=True)
    return row


def _compare(row: dict[str, Any], application: Generated, trace: Path, *, supplied: bool) -> int:
    """Notes how Takt's responses stand to the bounds; returns how many are above.

    With supplies also how they stand to the bounds of cores that provide all of their time.
    """
    note: dict[str, Any] = {}
    if work.analysed(application, note) is None:
        return 0
    row["accepted"] = note["accepted"]
    bounds = explain(trace).bounds
    if bounds is None:
        return 0
    row["above_bound"] = bounds.above
    row["above_stolen"] = bounds.by_cause.get(ShareKind.stolen, 0)
    row["above_unexplained"] = bounds.unexplained
    if supplied and (whole := explain(trace, whole_cores=True).bounds):
        row["above_whole"] = whole.above
    return bounds.above
