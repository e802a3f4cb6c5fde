# SPDX-License-Identifier: Apache-2.0
"""Executes the applications of a campaign for real: one at a time, on this machine alone.

As in Krukiewicz-Gacek 2021, section 5.2: each application several times, for a strict time, in
random order, so that what the machine does over the hours does not fall on one of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from takt.campaign import cell as work
from takt.campaign.folder import Folder, write_table
from takt.campaign.model import EXECUTIONS, Campaign
from takt.errors import TaktError
from takt.generate.blocks import Generated


@dataclass(frozen=True)
class Turn:
    """One execution."""

    order: int
    application: int
    approach: str
    run: int

    def name(self, application: Generated) -> str:
        """Of its files."""
        return f"{application.name}.{self.approach}.{self.run}"


def turns(campaign: Campaign, applications: int) -> list[Turn]:
    """All executions in their random order: every application once before any of them again."""
    assert campaign.execution is not None  # noqa: S101 - asked for by the caller
    rng = np.random.default_rng([campaign.seed, 1])
    points = [(a, p) for a in range(applications) for p in campaign.execution.approaches]
    order: list[Turn] = []
    for run in range(campaign.execution.runs):
        for place in rng.permutation(len(points)).tolist():
            application, approach = points[place]
            order.append(Turn(len(order), application, approach, run))
    return order


def execute(
    folder: Folder, campaign: Campaign, begin: Callable[[int, int, str], None]
) -> Iterator[str | None]:
    """Executes what is not done; gives the error, or None, of each execution."""
    applications = [
        one for cell in campaign.cells()
        for one in work.applications(campaign.space, campaign.seed, cell)
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
        if row["error"] is None:  # else it is tried again the next time
            write_table(file, pa.Table.from_pylist([row], schema=EXECUTIONS))
        yield row["error"]


def _execute(
    folder: Folder, campaign: Campaign, turn: Turn, application: Generated
) -> dict[str, Any]:
    from takt.execution import execute as executed
    from takt.metrics import measure

    assert campaign.execution is not None  # noqa: S101 - see turns()
    row: dict[str, Any] = {
        "name": application.name,
        "approach": turn.approach,
        "run": turn.run,
        "order": turn.order,
        "status": "failed",
        "error": None,
    }
    trace = folder.traces / f"{turn.name(application)}.takttrace"
    try:
        done = executed(
            json.loads(application.text),
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
        "shortfalls": done.shortfalls,
        "above_bound": _above_bound(application, turn.approach, found),
    }
    if found.freshness is not None:
        row["on_old_data"] = found.freshness.on_old_data
        row["mean_old_data_ratio"] = found.freshness.mean_ratio
    if found.misses:
        row["trace"] = str(trace.relative_to(folder.path))
    else:
        trace.unlink(missing_ok=True)
    return row


def _above_bound(application: Generated, approach: str, found: Any) -> int | None:
    """Callbacks of Takt with a response above their bound, where there is one."""
    if approach != "takt":
        return None
    try:
        bounds = work.analysed(application.text, {})
    except ValueError:
        return None
    above = 0
    for callback in found.callbacks:
        bound = bounds.get(callback.callback)
        if bound is not None and callback.response_us is not None:
            above += round(callback.response_us.max * 1000) > bound
    return above
