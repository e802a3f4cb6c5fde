# SPDX-License-Identifier: Apache-2.0
"""What only one kind of measurement has: a timer's own report, its jitter, single subscribers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from takt.errors import TaktError
from takt.measure.results import histogram
from takt.measure.results.model import Cell, Percentiles
from takt.pages import text
from takt.statistics import Int64

_RANGE = ("Min", "Mean", "p50", "p99", "p99.9", "Max")


@dataclass(frozen=True)
class OwnTable:
    """A table of words; the first column names the row."""

    title: str
    meaning: str
    heads: Sequence[str]
    rows: list[list[str]]


class Measured(Protocol):
    """A variant, as far as it is looked at here."""

    scheduling: str
    cells: list[Cell]


def own_tables(variants: Sequence[Measured]) -> list[OwnTable]:
    """The tables of a measurement; none for the kinds that have nothing of their own."""
    programs = [
        _one_shot(variants),
        *_cyclic(variants),
        _bus(variants),
        _threads(variants),
        _subscribers(variants),
        _addresses(variants),
    ]
    return [table for table in programs if table.rows]


def jitter_bins(folder: Path, cells: Sequence[Cell]) -> tuple[Int64, Int64] | None:
    """The jitter of what is cyclic, all repetitions together; None where there is none."""
    parts = []
    for cell in cells:
        if cell.by_jitter and cell.histogram:
            try:
                parts.append(histogram.read(folder / cell.histogram))
            except (OSError, TaktError):
                continue  # removed or damaged: the samples' own charts say so
    parts = [part for part in parts if len(part[0])]
    return histogram.merged(parts) if parts else None


def _one_shot(variants: Sequence[Measured]) -> OwnTable:
    rows = []
    for name, cell in _cells(variants):
        own = cell.statistics.one_shot if cell.statistics else None
        if own is None or cell.statistics is None:
            continue
        rows.append([f"{name}, measured", *_range(cell.statistics.latency)])
        if own.reported and own.difference:
            rows.append([f"{name}, reported", *_range(own.reported)])
            rows.append([f"{name}, difference", *_range(own.difference)])
        if own.never_fired:
            said = f"{text.count(own.never_fired)} of {text.count(cell.sent)} never fired"
            rows.append([f"{name}: {said}", *[""] * len(_RANGE)])
    return OwnTable(
        "Measured and reported",
        "in µs. Reported: the latency that the timer itself reports; difference: reported "
        "− measured.",
        ("Series", *_RANGE),
        rows,
    )


def _cyclic(variants: Sequence[Measured]) -> list[OwnTable]:
    ranges, rates = [], []
    for name, cell in _cells(variants):
        own = cell.statistics.cyclic if cell.statistics else None
        if own is None:
            continue
        if cell.kind == "ethercat":
            ranges.append([f"{name}, period", *_range(own.jitter, cell.period_us)])
        ranges.append([f"{name}, jitter", *_range(own.jitter)])
        ranges.append([f"{name}, drift", *_range(own.drift)])
        first = ", ".join(text.microseconds(value) for value in own.first_two_us)
        rate = f"{own.rate_hz:.6g} Hz"
        passed = text.count(own.expiries - own.callbacks)
        rates.append([name, f"{own.negative_share:.1%}", first, rate, passed])
    return [
        OwnTable(
            "Jitter and drift",
            "in µs. Jitter: interval between two calls, or two sent cycles, − period. "
            "Drift: time of the call − whole periods since the first call.",
            ("Series", *_RANGE),
            ranges,
        ),
        OwnTable(
            "Rate",
            "The first two intervals are excluded from all other jitter figures.",
            ("Series", "Negative jitter", "First two µs", "Achieved rate", "Skipped expiries"),
            rates,
        ),
    ]


def _bus(variants: Sequence[Measured]) -> OwnTable:
    rows = []
    for name, cell in _cells(variants):
        for bus in [one.bus for one in cell.probes if one.bus]:
            counts = (bus.slaves, bus.expected_counter, cell.sent, cell.lost, bus.wrong_counter)
            first = [one for one in bus.changes if one.working_counter != bus.expected_counter][:1]
            said = [f"{text.count(one.cycle)}: {one.working_counter}" for one in first]
            rows.append([name, *map(text.count, counts), *(said or [text.ABSENT])])
    return OwnTable(
        "Working counter",
        "Every slave increments it on each read and write; a wrong value shows that a "
        "slave did not take part.",
        ("Series", "Slaves", "Expected", "Cycles", "Lost", "Wrong", "First wrong"),
        rows,
    )


def _threads(variants: Sequence[Measured]) -> OwnTable:
    rows = []
    for name, cell in _cells(variants):
        for one in cell.statistics.threads if cell.statistics else []:
            values = _range(one.latency) if one.latency else [text.ABSENT] * len(_RANGE)
            thread = f"{name}, {one.period_us:g} µs"
            rows.append([thread, text.count(one.count), text.microseconds(one.first_us), *values])
    return OwnTable(
        "Threads",
        "in µs, separately for each period; the first sample is excluded from all other figures.",
        ("Thread", "Samples", "First", *_RANGE),
        rows,
    )


def _addresses(variants: Sequence[Measured]) -> OwnTable:
    rows = [
        [name, text.count(found.compared), text.count(found.same), f"{found.share:.1%}"]
        for name, cell in _cells(variants)
        if (found := cell.addresses) and found.compared
    ]
    return OwnTable(
        "Addresses",
        "Address of each message compared between sender and receiver. Same address: "
        "passed by reference; different address: copied.",
        ("Series", "Compared", "The same", "Share"),
        rows,
    )


def _subscribers(variants: Sequence[Measured]) -> OwnTable:
    rows = []
    for name, cell in _cells(variants):
        found = cell.statistics.subscribers if cell.statistics else []
        for number, one in enumerate(found if len(found) > 1 else [], 1):
            counts = (one.count, one.lost, one.duplicated, one.out_of_order)
            values = _range(one.latency) if one.latency else [text.ABSENT] * len(_RANGE)
            row = [f"{name}, {number}", *map(text.count, counts), text.microseconds(one.first_us)]
            rows.append([*row, *values])
    return OwnTable(
        "Subscribers",
        "in µs, separately for each subscriber; the first message is excluded from all "
        "other figures.",
        ("Subscriber", "Received", "Lost", "Twice", "Reordered", "First", *_RANGE),
        rows,
    )


def _cells(variants: Sequence[Measured]) -> list[tuple[str, Cell]]:
    """Each cell with a name: its scheduling, and its repetition where there are several."""
    return [
        (one.scheduling + (f", r{cell.repetition}" if len(one.cells) > 1 else ""), cell)
        for one in variants
        for cell in one.cells
    ]


def _range(found: Percentiles, offset_us: float = 0.0) -> list[str]:
    values = (
        found.min_us, found.mean_us, found.p50_us, found.p99_us, found.p999_us, found.max_us,
    )  # fmt: skip
    return [text.microseconds(value + offset_us) for value in values]
