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

from takt.schedule.trace.file import NONE, NOT_RECORDED, Step, Table, Trace, Type, recorded

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
            "takt.held": json.dumps(trace.names.held),
        }
        self._names = trace.names
        self._events = pq.ParquetWriter(events, _EVENTS.with_metadata(about))
        self._jobs = pq.ParquetWriter(jobs, _JOBS.with_metadata(about))

    def close(self) -> None:
        """Ends what is written."""
        try:
            self._events.close()
            self._jobs.close()
        finally:
            # What a full disk keeps from closing would complain once more when it is collected.
            self._events.is_open = self._jobs.is_open = False

    def take(self, step: Step) -> None:
        """Writes events as they are, and jobs."""
        events, jobs = step.events, step.jobs
        if len(events["time"]):
            self._write(self._events, self._of_events(events))
        self._write(self._jobs, self._of_jobs(jobs))

    def _of_events(self, events: Table) -> list[Any]:
        return [
            pa.array(events["time"]),
            _labelled(events["type"], _event),
            _labelled(events["task"], self._names.task),
            pa.array(events["job"]),
            pa.array(events["value"]),
            _labelled(events["topic"], self._names.topic),
            pa.array(events["core"], mask=events["core"] == NONE),
            pa.array(events["detail"]),
        ]

    def _of_jobs(self, jobs: Table) -> list[Any]:
        whole = recorded(jobs["release"]) & recorded(jobs["end"])
        ran = recorded(jobs["start"]) & recorded(jobs["end"])
        response = np.where(whole, jobs["end"] - jobs["release"], NOT_RECORDED)
        preempted = np.where(ran, jobs["end"] - jobs["start"] - jobs["running"], NOT_RECORDED)
        times = {**jobs, "response": response, "preempted": preempted}
        return [
            _labelled(jobs["task"], self._names.task),
            pa.array(jobs["job"]),
            pa.array(jobs["core"], mask=~recorded(jobs["start"])),
            *(pa.array(times[name], mask=~recorded(times[name])) for name in ("priority", *_TIMES)),
            pa.array(jobs["preemptions"].astype(np.int64)),
            pa.array(jobs["missed"]),
        ]

    def _write(self, writer: Any, arrays: list[Any]) -> None:
        writer.write_table(pa.Table.from_arrays(arrays, schema=writer.schema))


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
