# SPDX-License-Identifier: Apache-2.0
"""Sample files of probes (docs/reference/probes.md) and their lasting form, Parquet.

A probe may be killed at any moment, so a file that ends anywhere is read as far as it is whole.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from takt.documents.writing import replacing
from takt.measure.statistics import series
from takt.measure.statistics.series import Batch

MAGIC = b"TAKTSMP1"
HEADER_BYTES = 4096
_HEADER = struct.Struct("<8sIIQQQq")
RECORD = np.dtype(
    [("sequence", "<u8"), ("intended_ns", "<i8"), ("sent_ns", "<i8"), ("received_ns", "<i8")]
)
_SCHEMA = pa.schema(
    [("sequence", pa.uint64())]
    + [(name, pa.int64()) for name in ("intended_ns", "sent_ns", "received_ns")]
)


class BadRecording(ValueError):
    """The file is no sample file of a version that this tool reads."""


@dataclass(frozen=True)
class Recording:
    """What a probe recorded; ``records`` maps the file, so close over it only while it exists."""

    records: NDArray[np.void]
    dropped: int = 0
    realtime_offset_ns: int = 0

    def parts(self) -> Iterator[NDArray[np.void]]:
        """The records in batches, so that never more of the file than one of them is mapped."""
        for start in range(0, len(self.records), series.BATCH):
            end = min(start + series.BATCH, len(self.records))
            if isinstance(self.records, np.memmap) and self.records.filename is not None:
                place = self.records.offset + start * RECORD.itemsize
                yield np.memmap(self.records.filename, RECORD, "r", place, (end - start,))
            else:
                yield self.records[start:end]

    def batches(self) -> Iterator[Batch]:
        """The same as columns."""
        start = 0
        for part in self.parts():
            yield Batch(start, *(part[name].astype(np.int64) for name in RECORD.names or ()))
            start += len(part)


def needed_bytes(count: int) -> int:
    """The size of a sample file for ``count`` samples."""
    return HEADER_BYTES + count * RECORD.itemsize


def gap_bytes(count: int, period_ns: int) -> int:
    """The size of the file of gaps in ``count`` windows (docs/reference/probes.md)."""
    return needed_bytes(count * max(16, period_ns // 2 // 200_000))


def header(count: int) -> bytes:
    """The header of a sample file that is full with ``count`` records."""
    fields = _HEADER.pack(MAGIC, HEADER_BYTES, RECORD.itemsize, count, count, 0, 0)
    return fields.ljust(HEADER_BYTES, b"\0")


def read(path: Path) -> Recording:
    """Maps a sample file; raises BadRecording, or OSError where it cannot be read.

    A file that was cut inside its header, or whose header was never written, holds no records.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEADER.size)
    if len(head) < _HEADER.size or not any(head):
        if not MAGIC.startswith(head[:8]) and any(head):
            raise BadRecording(f"{path} does not start with {MAGIC.decode()}")
        return Recording(np.empty(0, dtype=RECORD))
    magic, header_bytes, record_bytes, _, count, dropped, offset = _HEADER.unpack(head)
    if magic != MAGIC:
        raise BadRecording(f"{path} does not start with {MAGIC.decode()}")
    if header_bytes != HEADER_BYTES or record_bytes != RECORD.itemsize:
        raise BadRecording(f"{path} has a header of {header_bytes} and records of {record_bytes} B")
    whole = min(count, max(0, size - HEADER_BYTES) // RECORD.itemsize)
    if not whole:
        return Recording(np.empty(0, dtype=RECORD), dropped, offset)
    records = np.memmap(path, dtype=RECORD, mode="r", offset=HEADER_BYTES, shape=(whole,))
    return Recording(records, dropped, offset)


def to_clock(path: Path, add_ns: int) -> None:
    """Puts the stamps of receiving, of a clock of its own, onto that of the sender's host."""
    recording = read(path)
    if not len(recording.records) or not add_ns:
        return
    records = np.memmap(path, RECORD, "r+", HEADER_BYTES, (len(recording.records),))
    for start in range(0, len(records), series.BATCH):
        received = records["received_ns"][start : start + series.BATCH]
        received[received != 0] += add_ns  # 0: it never came
    records.flush()


def store(recording: Recording, path: Path) -> None:
    """Writes Parquet: ``path`` is whole or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {
        "takt.realtime_offset_ns": str(recording.realtime_offset_ns),
        "takt.dropped": str(recording.dropped),
    }
    with (
        replacing(path) as temporary,
        pq.ParquetWriter(
            temporary,
            _SCHEMA.with_metadata(metadata),
            compression="zstd",
            use_dictionary=False,  # times hardly repeat, but they grow steadily
            column_encoding=dict.fromkeys(_SCHEMA.names, "DELTA_BINARY_PACKED"),
        ) as writer,
    ):
        for part in recording.parts():
            columns = [np.ascontiguousarray(part[name]) for name in RECORD.names or ()]
            writer.write_batch(pa.record_batch(columns, schema=_SCHEMA))
