# SPDX-License-Identifier: Apache-2.0
"""Sample files: what a probe completed is read, wherever the file ends; Parquet keeps it all."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from takt.measure.run import samples

INT64 = st.integers(-(2**63), 2**63 - 1)
RECORDS = st.lists(st.tuples(st.integers(0, 2**64 - 1), INT64, INT64, INT64), max_size=20)
in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def sample_file(records: list[tuple[int, int, int, int]], capacity: int = 20) -> bytes:
    header = struct.pack("<8sIIQQQq", b"TAKTSMP1", 4096, 32, capacity, len(records), 3, -5).ljust(
        4096, b"\0"
    )
    body = b"".join(struct.pack("<Qqqq", *record) for record in records)
    return (header + body).ljust(4096 + 32 * capacity, b"\0")


@in_one_folder
@given(RECORDS, st.integers(0, 4096 + 32 * 20))
def test_a_file_cut_anywhere_gives_its_whole_records(
    tmp_path: Path, records: list[tuple[int, int, int, int]], end: int
) -> None:
    path = tmp_path / "cut.taktsamples"
    path.write_bytes(sample_file(records)[:end])
    whole = max(0, end - 4096) // 32
    assert samples.read(path).records.tolist() == records[:whole]


@in_one_folder
@given(RECORDS)
def test_parquet_keeps_every_record(
    tmp_path: Path, records: list[tuple[int, int, int, int]]
) -> None:
    path = tmp_path / "whole.taktsamples"
    path.write_bytes(sample_file(records))
    recording = samples.read(path)
    samples.store(recording, tmp_path / "samples" / "whole.parquet")
    table = pq.read_table(tmp_path / "samples" / "whole.parquet")
    columns = [table[name].to_pylist() for name in samples.RECORD.names or ()]
    assert list(zip(*columns, strict=True)) == records
    assert table.schema.metadata[b"takt.realtime_offset_ns"] == b"-5"
    assert table.schema.metadata[b"takt.dropped"] == b"3"
    assert [file.name for file in (tmp_path / "samples").iterdir()] == ["whole.parquet"]


def test_a_file_that_was_sized_but_not_begun_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "sized.taktsamples"
    path.write_bytes(bytes(8192))
    assert len(samples.read(path).records) == 0


@pytest.mark.parametrize(
    "content",
    [
        b"not a sample file, but as long as one" * 200,
        sample_file([]).replace(b"TAKTSMP1", b"TAKTSMP2"),
        sample_file([])[:12] + struct.pack("<I", 40) + sample_file([])[16:],
    ],
)
def test_another_format_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.taktsamples"
    path.write_bytes(content)
    with pytest.raises(samples.BadRecording):
        samples.read(path)


def test_storing_in_batches_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("takt.measure.statistics.series.BATCH", 7)
    records = np.zeros(100, dtype=samples.RECORD)
    records["sequence"] = np.arange(100)
    samples.store(samples.Recording(records), tmp_path / "batches.parquet")
    assert pq.read_table(tmp_path / "batches.parquet")["sequence"].to_pylist() == list(range(100))
