# SPDX-License-Identifier: Apache-2.0
"""From the recordings of a cell to its Parquet files and its numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from takt.results import histogram
from takt.results.model import Cell, Note, Statistics, Status
from takt.run import samples
from takt.run.samples import BadRecording, Recording
from takt.statistics.series import joined, series_of
from takt.statistics.subscribers import distinct_count, out_of_order, subscriber
from takt.statistics.summary import summarise
from takt.statistics.timers import FIRST_INTERVALS, cyclic, jitter_ns, one_shot

FOLDER = "samples"


def add_measured(cell: Cell, recorded: list[Path], folder: Path, *, reports: bool = False) -> None:
    """Stores the recordings below ``folder`` and puts counts and statistics into the cell.

    ``reports``: the timer that was measured says itself how late it was.
    """
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
    add_recordings(cell, recordings, folder, reports=reports)
    if not cell.count and cell.status is Status.complete:
        cell.status = Status.failed
        why = f"{cell.sent} were sent" if cell.sent else "nothing was sent"
        cell.error = Note(what="no sample came", why=why, fix="see the notes of the cell")


def add_recordings(cell: Cell, recordings: list[Recording], folder: Path, *, reports: bool) -> None:
    """Puts counts and statistics into the cell, and writes its histogram below ``folder``."""
    _count(cell, recordings)
    _summarise(cell, recordings, reports)
    _write_histogram(cell, recordings, folder)


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
    distinct = sum(distinct_count(records) for records in received)
    said = cell.probes
    cell.count = sum(map(len, received))
    cell.duplicated = max(sum(one.duplicated for one in said), cell.count - distinct)
    cell.out_of_order = max(sum(one.out_of_order for one in said), sum(map(out_of_order, received)))
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


def _summarise(cell: Cell, recordings: list[Recording], reports: bool) -> None:
    names = samples.RECORD.names or ()
    series = joined(
        [
            series_of(
                *(one.records[name].astype(np.int64) for name in names),
                since_intended=cell.since_intended,
            )
            for one in recordings
        ]
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
        _add_own(cell, cell.statistics, recordings, reports)
        latency = cell.statistics.latency
        cell.p50_us, cell.p99_us = latency.p50_us, latency.p99_us
        cell.p999_us, cell.max_us = latency.p999_us, latency.max_us


def _add_own(
    cell: Cell, statistics: Statistics, recordings: list[Recording], reports: bool
) -> None:
    """Adds what only this kind has."""
    if cell.kind == "timer-oneshot":
        statistics.one_shot = one_shot(recordings[0].records, reports)
    elif cell.kind == "timer-cyclic":
        statistics.cyclic = cyclic(recordings[0].records, round(cell.period_us * 1000))
    elif cell.kind == "pubsub":
        heard = [one.duplicated for one in cell.probes if one.role != "publisher"]
        heard += [0] * (len(recordings) - len(heard))  # of those that wrote no result
        statistics.subscribers = [
            subscriber(one.records, cell.sent, duplicated)
            for one, duplicated in zip(recordings, heard, strict=False)
        ]


def _write_histogram(cell: Cell, recordings: list[Recording], folder: Path) -> None:
    """Writes the plain-text histogram beside the Parquet files: of the jitter, or the latency."""
    cell.histogram = None
    if not cell.statistics:
        return
    records = [one.records for one in recordings if len(one.records)]
    if cell.kind == "timer-cyclic":
        values = jitter_ns(records[0]["received_ns"], round(cell.period_us * 1000))[
            FIRST_INTERVALS:
        ]
        what = "jitter (interval between two callbacks - period)"
    else:
        series = [one[1:][one[1:]["received_ns"] != 0] for one in records]
        since = "intended_ns" if cell.since_intended else "sent_ns"
        values = np.concatenate([one["received_ns"] - one[since] for one in series])
        what = "latency"
    name = f"{FOLDER}/{cell.id}.histogram.txt"
    heading = [
        f"{cell.id}: {what}",
        f"{len(values)} values, {cell.lost} lost; without what is set apart at the start",
        f"started {cell.started:%Y-%m-%dT%H:%M:%SZ}" if cell.started else "",
    ]
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    histogram.write(folder / name, values, heading)
    cell.histogram = name
