# SPDX-License-Identifier: Apache-2.0
"""From the recordings of a cell to its Parquet files and its numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from takt.measure.results import histogram
from takt.measure.results.model import Cell, Note, Status
from takt.measure.results.point import SUPPLY
from takt.measure.run import samples
from takt.measure.run.programs import GAPS
from takt.measure.run.samples import BadRecording, Recording
from takt.measure.run.takers import Takers
from takt.measure.statistics import supply
from takt.measure.statistics.series import Batch, series_of
from takt.measure.statistics.subscribers import Listener
from takt.measure.statistics.summary import Summary
from takt.measure.statistics.timers import Calls, OneShots
from takt.processes.recording import SUFFIX

FOLDER = "samples"


def add_measured(
    cell: Cell,
    recorded: list[Path],
    folder: Path,
    *,
    reports: bool = False,
    takers: Takers | None = None,
) -> None:
    """Stores the recordings below ``folder`` and puts counts and statistics into the cell.

    ``reports``: the timer that was measured says itself how late it was; ``takers``: who had the
    core, of a supply.
    """
    recordings = []
    cell.samples = []
    if cell.kind == SUPPLY:
        recorded = _add_gaps(cell, recorded, folder, takers)
    for path in recorded:
        try:
            recording = samples.read(path)
        except BadRecording as error:
            cell.status = Status.failed
            cell.error = cell.error or Note(what="cannot read a recording", why=str(error))
            continue
        recordings.append(recording)
        if len(recording.records):
            cell.samples.append(keep(recording, path, folder))
        if recording.dropped:
            why = f"{recording.dropped} samples arrived after the recording was full"
            cell.notes.append(Note(what="samples dropped", why=why))
    add_recordings(cell, recordings, folder, reports=reports)
    if not cell.count and cell.status is Status.complete:
        cell.status = Status.failed
        why = f"{cell.sent} were sent" if cell.sent else "nothing was sent"
        cell.error = Note(what="no sample arrived", why=why, fix="see the notes of the cell")


def _add_gaps(cell: Cell, recorded: list[Path], folder: Path, takers: Takers | None) -> list[Path]:
    """Stores the gaps of a supply; returns the recordings of its windows."""
    gaps = [one for one in recorded if one.name.endswith(f"{GAPS}{SUFFIX}")]
    windows = [one for one in recorded if one not in gaps]
    try:
        found = [samples.read(one) for one in gaps]
        watched = [_whole(samples.read(one)) for one in windows]
    except BadRecording:  # told with the windows
        return windows
    for path, recording in zip(gaps, found, strict=True):
        cell.gaps = keep(recording, path, folder)
        if takers and watched:
            length = round(cell.period_us * 1000) // 2
            late = watched[0].received_ns - watched[0].intended_ns
            cell.takers = takers.of(
                supply.watched(watched[0], _whole(recording), length, supply.latency_of(late))
            )
    if takers and takers.refused:
        cell.notes.append(
            Note(
                what="the programs that take the core are not named",
                why=takers.refused,
                fix="run as root, or with CAP_PERFMON",
            )
        )
    return windows


def _whole(recording: Recording) -> Batch:
    return Batch.joined(list(recording.batches()))


def add_recordings(cell: Cell, recordings: list[Recording], folder: Path, *, reports: bool) -> None:
    """Puts counts and statistics into the cell, and writes its histogram below ``folder``."""
    found = _Found(cell, reports=reports)
    for recording in recordings:
        found.listeners.append(Listener())
        for batch in recording.batches():
            found.add(batch)
    _count(cell, found)
    _summarise(cell, found)
    _write_histogram(cell, found, folder)


def keep(recording: Recording, path: Path, folder: Path, suffix: str = "") -> str:
    """Stores one recording as Parquet; returns its name relative to the run folder."""
    name = f"{FOLDER}/{path.name.removesuffix(SUFFIX)}{suffix}.parquet"
    samples.store(recording, folder / name)
    return name


class _Found:
    """What the recordings of a cell amount to; they are gone through once, in batches."""

    def __init__(self, cell: Cell, *, reports: bool) -> None:
        self._kind, self._since_intended = cell.kind, cell.since_intended
        self._each = cell.kind == "pubsub" or cell.threads > 1
        self._by_jitter = cell.by_jitter
        self.summary = Summary(cell.deadline_us)
        self.listeners: list[Listener] = []  # one a recording
        self.one_shots = OneShots(reports=reports)
        self.calls = Calls(cell.period_ns)
        self.bins = histogram.Bins()  # of the jitter of a cyclic timer, else of the latency

    def add(self, batch: Batch) -> None:
        """Takes in the next rows of the last recording."""
        series = series_of(batch, since_intended=self._since_intended)
        self.summary.add(series)
        self.listeners[-1].add(batch, series if self._each else None)
        if self._kind == "timer-oneshot":
            self.one_shots.add(batch)
        if self._kind == "ethercat":  # its period is that of sending: what is lost was sent, too
            batch = replace(batch, received_ns=batch.sent_ns)
        self.bins.add(self.calls.add(batch) if self._by_jitter else series.latency_ns)


def _count(cell: Cell, found: _Found) -> None:
    """Counts from the records where we have them, from the probes' words where we have not.

    ``count`` is what was received, the first sample included.
    """
    arrived = [one.arrivals for one in found.listeners]
    distinct = sum(one.distinct() for one in arrived)
    said = cell.probes
    cell.count = sum(one.count for one in arrived)
    cell.duplicated = max(sum(one.duplicated for one in said), cell.count - distinct)
    cell.out_of_order = max(
        sum(one.out_of_order for one in said), sum(one.out_of_order for one in arrived)
    )
    if cell.kind == "pubsub":
        publishers = [one.sent for one in said if one.role in {"publisher", "both"}]
        reached = max((one.reached for one in arrived), default=0)
        cell.sent = publishers[0] if publishers else reached
        cell.lost = max(0, cell.sent * cell.subscribers - distinct)
    else:
        recorded = sum(one.count + one.lost for one in arrived)
        cell.sent = max((one.sent for one in said), default=recorded)
        cell.lost = max(
            max((one.lost for one in said), default=0), sum(one.lost for one in arrived)
        )


def _summarise(cell: Cell, found: _Found) -> None:
    cell.p50_us = cell.p99_us = cell.p999_us = cell.max_us = None
    statistics = cell.statistics = found.summary.statistics()
    if statistics is None:
        return
    if cell.kind == "timer-oneshot":
        statistics.one_shot = found.one_shots.result()
    elif cell.threads > 1:
        statistics.threads = [
            one.thread(period_us)
            for one, (period_us, _) in zip(found.listeners, cell.series, strict=False)
        ]
    elif cell.by_jitter:
        statistics.cyclic = found.calls.result()
    elif cell.kind == "pubsub":
        heard = [one.duplicated for one in cell.probes if one.role != "publisher"]
        heard += [0] * (len(found.listeners) - len(heard))  # of those that wrote no result
        statistics.subscribers = [
            one.result(cell.sent, duplicated)
            for one, duplicated in zip(found.listeners, heard, strict=False)
        ]
    latency = statistics.latency
    cell.p50_us, cell.p99_us = latency.p50_us, latency.p99_us
    cell.p999_us, cell.max_us = latency.p999_us, latency.max_us


def _write_histogram(cell: Cell, found: _Found, folder: Path) -> None:
    """Writes the plain-text histogram beside the Parquet files."""
    cell.histogram = None
    if not len(found.bins.values):
        return
    what = "latency"
    if cell.by_jitter:
        of = "cycles" if cell.kind == "ethercat" else "callbacks"
        what = f"jitter (interval between two {of} - period)"
    name, values = f"{FOLDER}/{cell.id}.histogram.txt", found.bins.counts.sum()
    heading = [
        f"{cell.id}: {what}",
        f"{values} values, {cell.lost} lost; values excluded at the start are not counted",
        f"started {cell.started:%Y-%m-%dT%H:%M:%SZ}" if cell.started else "",
    ]
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    histogram.write(folder / name, found.bins, heading)
    cell.histogram = name
