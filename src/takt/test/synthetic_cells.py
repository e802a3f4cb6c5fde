# SPDX-License-Identifier: Apache-2.0
"""Cells with known content, made from recordings by the tool's own path (``add_measured``)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from takt.measure.results.model import Cell, ProbeResult, Run, Status
from takt.measure.run.measured import add_measured
from takt.measure.run.samples import RECORD, header


def records_of(
    late_us: ArrayLike, period_us: float, reported_us: ArrayLike | None = None
) -> NDArray[np.void]:
    """Samples this late after their due times; NaN: never came. ``sent`` holds the report."""
    late = np.asarray(late_us, dtype=np.float64)
    lost = np.isnan(late)
    rows = np.zeros(len(late), dtype=RECORD)
    rows["sequence"] = np.arange(len(late))
    rows["intended_ns"] = 10**9 + (np.arange(len(late)) * period_us * 1000).astype(np.int64)
    reported = np.zeros(len(late)) if reported_us is None else np.asarray(reported_us)
    rows["sent_ns"] = rows["intended_ns"] + (np.nan_to_num(reported) * 1000).astype(np.int64)
    rows["received_ns"] = rows["intended_ns"] + (np.nan_to_num(late) * 1000).astype(np.int64)
    rows["received_ns"][lost] = 0
    return rows


def write_recording(file: Path, records: NDArray[np.void]) -> Path:
    """Writes a sample file as a probe does."""
    file.write_bytes(header(len(records)) + records.tobytes())
    return file


def cell_of(
    folder: Path, recordings: list[NDArray[np.void]], repetition: int = 0, **asked: Any
) -> Cell:
    """A measured cell with these recordings, stored below ``folder``."""
    words = [str(value) for value in asked.values() if not isinstance(value, (list, dict))]
    granted = asked.pop("granted", {})
    defaults: dict[str, Any] = {
        "stack": "rcl",
        "kind": "timer-oneshot",
        "transport": "rcl_timer",
        "payload_bytes": 0,
        "scheduling": "rr",
        "priority": 80,
        "cpu": [],
        "period_us": 1000.0,
        "samples_requested": len(recordings[0]),
        "deadline_us": 400.0,
        "lost_after_us": 500_000.0,
        "subscribers": len(recordings),
        "reliability": "reliable",
        "depth": 10,
    }
    key = "-".join(words)
    cell = Cell(
        id=f"{key}-r{repetition}",
        key=key,
        repetition=repetition,
        order=0,
        status=Status.complete,
        **defaults | asked,
    )
    sent = len(recordings[0])
    role = "publisher" if cell.kind == "pubsub" else "both"
    cell.probes = [ProbeResult(role=role, status="complete", sent=sent, granted=granted)]
    files = [
        write_recording(folder / f"{cell.id}-s{number}.taktsamples", records)
        for number, records in enumerate(recordings)
    ]
    add_measured(cell, files, folder, reports=cell.kind.startswith("timer"))
    return cell


def synthetic_run(name: str, cells: Sequence[Cell] = (), **changes: Any) -> Run:
    """A run of these cells on a machine of which nothing is known."""
    run = Run(
        name=name,
        status=Status.complete,
        started=datetime.now(timezone.utc),
        seed=1,
        experiment={},
        machine={},
        versions={},
        cells=list(cells),
    )
    return run.model_copy(update=changes)
