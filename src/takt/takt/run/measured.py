# SPDX-License-Identifier: Apache-2.0
"""From the recordings of a cell to its Parquet files and its numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from takt.results.model import Cell, Note, Status
from takt.run import samples
from takt.run.samples import BadRecording, Recording
from takt.statistics.series import joined, series_of
from takt.statistics.summary import summarise

FOLDER = "samples"


def add_measured(cell: Cell, recorded: list[Path], folder: Path) -> None:
    """Stores the recordings below ``folder`` and puts counts and statistics into the cell."""
    recordings = []
    cell.samples = []
    for path in recorded:
        try:
            recording = samples.read(path)
        except BadRecording as error:
            cell.status = Status.failed
            cell.error = cell.error or Note(what="a recording cannot be read", why=str(error))
            continue
        recordings.append(recording)
        if len(recording.records):
            cell.samples.append(keep(recording, path, folder))
        if recording.dropped:
            why = f"{recording.dropped} samples came after the recording was full"
            cell.notes.append(Note(what="samples dropped", why=why))
    _count(cell, recordings)
    _summarise(cell, recordings)
    if not cell.count and cell.status is Status.complete:
        cell.status = Status.failed
        why = f"{cell.sent} were sent" if cell.sent else "nothing was sent"
        cell.error = Note(what="no sample came", why=why, fix="see the notes of the cell")


def keep(recording: Recording, path: Path, folder: Path, suffix: str = "") -> str:
    """Stores one recording as Parquet; returns its name relative to the run folder."""
    name = f"{FOLDER}/{path.name.removesuffix(samples.SUFFIX)}{suffix}.parquet"
    samples.store(recording, folder / name)
    return name


def _count(cell: Cell, recordings: list[Recording]) -> None:
    """Counts from the records where we have them, from the probes' words where we have not.

    ``count`` is what was received, the first sample included.
    """
    received = [one.records[one.records["received_ns"] != 0] for one in recordings]
    distinct = sum(len(np.unique(records["sequence"])) for records in received)
    said = cell.probes
    cell.count = sum(map(len, received))
    cell.duplicated = max(sum(one.duplicated for one in said), cell.count - distinct)
    cell.out_of_order = max(
        sum(one.out_of_order for one in said), sum(map(_out_of_order, received))
    )
    if cell.kind == "pubsub":
        publishers = [one.sent for one in said if one.role in {"publisher", "both"}]
        reached = max(
            (int(one.records["sequence"].max()) + 1 for one in recordings if len(one.records)),
            default=0,
        )
        cell.sent = publishers[0] if publishers else reached
        cell.lost = max(0, cell.sent * cell.subscribers - distinct)
    else:
        recorded = sum(len(one.records) for one in recordings)
        cell.sent = max((one.sent for one in said), default=recorded)
        cell.lost = max(
            max((one.lost for one in said), default=0),
            sum(int((one.records["received_ns"] == 0).sum()) for one in recordings),
        )


def _out_of_order(records: np.ndarray) -> int:
    sequence = records["sequence"]
    if len(sequence) < 2:
        return 0
    return int((sequence[1:] < np.maximum.accumulate(sequence)[:-1]).sum())


def _summarise(cell: Cell, recordings: list[Recording]) -> None:
    names = samples.RECORD.names or ()
    series = joined(
        [series_of(*(one.records[name].astype(np.int64) for name in names)) for one in recordings]
    )
    cell.statistics = None
    cell.p50_us = cell.p99_us = cell.p999_us = cell.max_us = None
    if len(series):
        cell.statistics = summarise(
            series.latency_ns,
            series.response_ns,
            series.first_ns,
            cell.deadline_us,
            series.sequence,
        )
        latency = cell.statistics.latency
        cell.p50_us, cell.p99_us = latency.p50_us, latency.p99_us
        cell.p999_us, cell.max_us = latency.p999_us, latency.max_us
