# SPDX-License-Identifier: Apache-2.0
"""A trace as two Parquet tables: ``events.parquet`` and ``jobs.parquet`` (docs/reference/trace.md).

Times are CLOCK_MONOTONIC or virtual, in ns; what an event or a job does not have is null.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from takt.schedule.trace.file import NONE, Events, Trace, Type
from takt.schedule.trace.timeline import Job, Slice

_TEXT = pa.dictionary(pa.int32(), pa.string())
_TIMES = ("release", "start", "end", "deadline", "response", "running", "preempted", "cpu_time")
_EVENTS = pa.schema(
    [
        ("time_ns", pa.int64()),
        ("event", _TEXT),
        ("task", _TEXT),
        ("job", pa.uint64()),
        ("value", pa.int64()),
        ("topic", _TEXT),
        ("core", pa.uint16()),
        ("detail", pa.uint8()),
    ]
)
_JOBS = pa.schema(
    [
        ("task", _TEXT),
        ("job", pa.uint64()),
        ("core", pa.uint16()),
        ("priority", pa.int64()),
        *((f"{name}_ns", pa.int64()) for name in _TIMES),
        ("preemptions", pa.int64()),
        ("missed", pa.bool_()),
    ]
)
_ROWS = 1 << 16  # jobs that wait to be written


class ParquetExport:
    """The sink that writes both tables; to be closed."""

    def __init__(self, trace: Trace, events: Path, jobs: Path) -> None:
        """Creates the files; raises OSError where they cannot be written."""
        about = {
            "takt.source": trace.source,
            "takt.lost": str(trace.lost),
            "takt.closed_in_order": str(trace.closed_in_order).lower(),
            "takt.realtime_offset_ns": str(trace.realtime_offset_ns),
            "takt.attributes": json.dumps(trace.names.attributes),
        }
        self._names = trace.names
        self._rows: list[tuple[Any, ...]] = []
        self._events = pq.ParquetWriter(events, _EVENTS.with_metadata(about))
        self._jobs = pq.ParquetWriter(jobs, _JOBS.with_metadata(about))

    def close(self) -> None:
        """Ends what is written."""
        try:
            self._write_jobs()
            self._events.close()
            self._jobs.close()
        finally:
            # What a full disk keeps from closing would complain once more when it is collected.
            self._events.is_open = self._jobs.is_open = False

    def block(self, events: Events) -> None:
        """Writes events as they are."""
        column = {name: np.ascontiguousarray(events[name]) for name in events.dtype.names or ()}
        arrays = [
            pa.array(column["time"]),
            _labelled(column["type"], _event),
            _labelled(column["task"], self._names.task),
            pa.array(column["job"]),
            pa.array(column["value"]),
            _labelled(column["topic"], self._names.topic),
            pa.array(column["core"], mask=column["core"] == NONE),
            pa.array(column["detail"]),
        ]
        self._events.write_table(pa.Table.from_arrays(arrays, schema=self._events.schema))

    def slice(self, slice_: Slice) -> None:
        """Nothing: jobs carry how long they ran."""

    def job(self, job: Job) -> None:
        """One row of the jobs."""
        self._rows.append(
            (
                self._names.task(job.task),
                job.job,
                job.core,
                job.priority,
                *(getattr(job, name) for name in _TIMES),
                job.preemptions,
                job.missed,
            )
        )
        if len(self._rows) >= _ROWS:
            self._write_jobs()

    def _write_jobs(self) -> None:
        columns = zip(*self._rows, strict=True) if self._rows else [()] * len(_JOBS)
        arrays = [
            pa.array(column, field.type.value_type).dictionary_encode()
            if pa.types.is_dictionary(field.type)
            else pa.array(column, field.type)
            for column, field in zip(columns, _JOBS, strict=True)
        ]
        self._jobs.write_table(pa.Table.from_arrays(arrays, schema=self._jobs.schema))
        self._rows.clear()


def _event(number: int) -> str:
    return Type(number).name


def _labelled(numbers: NDArray[np.integer[Any]], name: Callable[[int], str]) -> Any:
    """Numbers as names; NONE as null."""
    known, places = np.unique(numbers, return_inverse=True)
    names = [name(number) for number in known.tolist()]
    nothing = numbers == NONE if numbers.dtype.itemsize > 1 else None
    return pa.DictionaryArray.from_arrays(
        pa.array(places.astype(np.int32), mask=nothing), pa.array(names)
    )
