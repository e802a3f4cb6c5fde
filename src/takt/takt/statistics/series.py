# SPDX-License-Identifier: Apache-2.0
"""The samples of one Parquet file as arrays, with the first and the lost ones set apart.

The columns and the words *latency*, *response* and *first sample* are those of
``docs/reference/probes.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

Int64 = NDArray[np.int64]

COLUMNS = ["sequence", "intended_ns", "sent_ns", "received_ns"]


@dataclass(frozen=True)
class Series:
    """The received samples of one recorder, without its first one, in the recorded order."""

    sequence: Int64
    intended_ns: Int64
    latency_ns: Int64
    response_ns: Int64
    lost_ns: Int64  # intended times of the lost samples
    first_ns: int | None  # latency of the first sample; None where it was lost

    def __len__(self) -> int:
        return len(self.latency_ns)


def series_of(
    sequence: Int64,
    intended_ns: Int64,
    sent_ns: Int64,
    received_ns: Int64,
    *,
    since_intended: bool = False,
) -> Series:
    """Splits the four columns of a recording into a :class:`Series`.

    The latency counts from ``sent_ns``, or from ``intended_ns`` (``Cell.since_intended``).
    """
    if since_intended:
        sent_ns = intended_ns
    received = received_ns != 0
    first_ns = int(received_ns[0] - sent_ns[0]) if len(received) and received[0] else None
    rest = received.copy()
    rest[:1] = False
    return Series(
        sequence=sequence[rest],
        intended_ns=intended_ns[rest],
        latency_ns=received_ns[rest] - sent_ns[rest],
        response_ns=received_ns[rest] - intended_ns[rest],
        lost_ns=intended_ns[~received],
        first_ns=first_ns,
    )


def read_series(file: Path, *, since_intended: bool = False) -> Series:
    """Reads one Parquet file; OSError or pyarrow.ArrowException say why it cannot be read."""
    table = parquet.read_table(file, columns=COLUMNS)
    sequence, intended, sent, received = (
        np.asarray(table[name].to_numpy(), dtype=np.int64) for name in COLUMNS
    )
    return series_of(sequence, intended, sent, received, since_intended=since_intended)


def joined(series: Sequence[Series]) -> Series:
    """Several recordings (subscribers, repetitions) as one; ``first_ns`` is the slowest first."""
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
