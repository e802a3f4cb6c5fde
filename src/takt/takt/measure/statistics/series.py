# SPDX-License-Identifier: Apache-2.0
"""The samples of a recording as arrays, with the first and the lost ones set apart.

A recording may hold 10^8 samples, so it is gone through in batches. The columns and the words
*latency*, *response* and *first sample* are those of ``docs/reference/probes.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyarrow import parquet

from takt.statistics import Int64

COLUMNS = ["sequence", "intended_ns", "sent_ns", "received_ns"]
BATCH = 1 << 20  # rows: what is held of a recording at a time


@dataclass(frozen=True)
class Batch:
    """Consecutive rows of one recording."""

    start: int  # the row of the first one
    sequence: Int64
    intended_ns: Int64
    sent_ns: Int64
    received_ns: Int64  # 0: lost

    def __len__(self) -> int:
        return len(self.sequence)

    @classmethod
    def joined(cls, parts: Sequence[Batch]) -> Batch:
        """The rows of a whole recording; for those that fit into memory."""
        columns = ("sequence", "intended_ns", "sent_ns", "received_ns")
        return cls(
            0,
            *(
                np.concatenate([np.empty(0, np.int64), *(getattr(one, name) for one in parts)])
                for name in columns
            ),
        )


@dataclass(frozen=True)
class Series:
    """The received samples of one recorder, without its first one, in the recorded order."""

    sequence: Int64
    intended_ns: Int64
    latency_ns: Int64
    response_ns: Int64
    lost_ns: Int64  # intended times of the lost samples
    first_ns: int | None  # latency of the first sample; None where it was lost or is not in here

    def __len__(self) -> int:
        return len(self.latency_ns)


def series_of(batch: Batch, *, since_intended: bool = False) -> Series:
    """Splits a batch into a :class:`Series`; row 0 of a recording is its first sample.

    The latency counts from ``sent_ns``, or from ``intended_ns`` (``Cell.since_intended``).
    """
    since = batch.intended_ns if since_intended else batch.sent_ns
    received = batch.received_ns != 0
    rest = received.copy()
    first_ns = None
    if batch.start == 0 and len(batch):
        first_ns = int(batch.received_ns[0] - since[0]) if received[0] else None
        rest[0] = False
    times = batch.received_ns[rest]
    return Series(
        sequence=batch.sequence[rest],
        intended_ns=batch.intended_ns[rest],
        latency_ns=times - since[rest],
        response_ns=times - batch.intended_ns[rest],
        lost_ns=batch.intended_ns[~received],
        first_ns=first_ns,
    )


def read_batches(file: Path) -> Iterator[Batch]:
    """Goes through a Parquet file; OSError or pyarrow.ArrowException say why it cannot be read."""
    with parquet.ParquetFile(file) as opened:
        start = 0
        for part in opened.iter_batches(BATCH, columns=COLUMNS):
            columns = [np.asarray(part[name].to_numpy(), dtype=np.int64) for name in COLUMNS]
            yield Batch(start, *columns)
            start += len(part)


def count_rows(file: Path) -> int:
    """How many samples a Parquet file holds, the first and the lost ones included."""
    return int(parquet.read_metadata(file).num_rows)


def read_series(file: Path, *, since_intended: bool = False) -> Series:
    """One Parquet file as a whole; for samples that fit into memory."""
    return joined([series_of(one, since_intended=since_intended) for one in read_batches(file)])


def joined(series: Sequence[Series]) -> Series:
    """Several recordings or batches as one; ``first_ns`` is the slowest first."""
    firsts = [one.first_ns for one in series if one.first_ns is not None]

    def all_of(name: str) -> Int64:
        arrays = [getattr(one, name) for one in series]
        return np.concatenate(arrays) if arrays else np.empty(0, dtype=np.int64)

    return Series(
        sequence=all_of("sequence"),
        intended_ns=all_of("intended_ns"),
        latency_ns=all_of("latency_ns"),
        response_ns=all_of("response_ns"),
        lost_ns=all_of("lost_ns"),
        first_ns=max(firsts, default=None),
    )
