# SPDX-License-Identifier: Apache-2.0
"""Columns as one compressed text, which the page unpacks into typed arrays.

Times count from the begin of the trace. A begin is a 64-bit float, exact to the nanosecond for a
hundred days; lengths are 32-bit floats, exact to a ten-millionth.
"""

from __future__ import annotations

import base64
import zlib
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from takt.processes.switches import INTERRUPT, Held
from takt.schedule.trace.file import NONE, NOT_RECORDED, RECORDING, Table, Trace, chosen
from takt.schedule.trace.programs import Programs
from takt.schedule.view.gather import Gathered

_TYPES = {"float64": "Float64Array", "float32": "Float32Array", "uint32": "Uint32Array"}
_TYPES |= {"uint16": "Uint16Array", "uint8": "Uint8Array"}
_MISSED, _OPEN, _PREEMPTED = 1, 2, 4  # flags of a job, as timeline.js has them

Row = dict[str, Any]  # as timeline.js has it


class _Packing:
    """Lays arrays behind each other, each at a multiple of eight bytes."""

    def __init__(self) -> None:
        self.arrays: dict[str, tuple[str, int, int]] = {}
        self._length = 0
        self._compressing, self._compressed = zlib.compressobj(6), bytearray()

    def add(self, name: str, column: NDArray[Any]) -> None:
        self.arrays[name] = _TYPES[str(column.dtype)], self._length, len(column)
        behind = bytes(-column.nbytes % 8)
        for part in (np.ascontiguousarray(column).data, behind):
            self._compressed += self._compressing.compress(part)
        self._length += column.nbytes + len(behind)

    def text(self) -> str:
        self._compressed += self._compressing.flush()
        return base64.b64encode(self._compressed).decode()


def packed(trace: Trace, gathered: Gathered) -> tuple[dict[str, Any], str]:
    """What the timeline needs beside the arrays, and these as text."""
    packing = _Packing()
    begin, end = gathered.begin, gathered.end
    jobs = gathered.jobs
    ended = jobs["end"] != NOT_RECORDED
    last = np.where(ended, jobs["end"], end)
    packing.add("jobBegin", _since(jobs["start"], begin))
    packing.add("jobLength", _length(last - jobs["start"]))
    packing.add("jobWait", _where(jobs["release"] != NOT_RECORDED, jobs["start"] - jobs["release"]))
    due = (jobs["release"] != NOT_RECORDED) & (jobs["deadline"] != NOT_RECORDED)
    packing.add("jobDeadline", _where(due, jobs["deadline"] - jobs["release"]))
    packing.add("jobCpu", _where((jobs["cpu_time"] != NOT_RECORDED), jobs["cpu_time"]))
    packing.add("jobNumber", (jobs["job"] & np.uint64(0xFFFFFFFF)).astype(np.uint32))
    packing.add("jobCore", jobs["core"].astype(np.uint16))
    flags = _MISSED * jobs["missed"] + _OPEN * ~ended + _PREEMPTED * (jobs["preemptions"] > 0)
    packing.add("jobFlags", flags.astype(np.uint8))
    spans = [gathered.slices]
    rows = _core_rows(trace, gathered)
    if trace.source == RECORDING:
        known = jobs["cpu"] >= 0
        on = {
            "core": jobs["cpu"],
            "begin": jobs["start"],
            "end": last,
            "task": jobs["task"],
            "job": jobs["job"],
        }
        spans.insert(0, _by_core(chosen(on, known)))
        rows = [*_cpu_rows(spans[0]), *_shifted(rows, len(spans[0]["begin"]))]
    table = {name: np.concatenate([one[name] for one in spans]) for name in _SPANS}
    packing.add("spanBegin", _since(table["begin"], begin))
    packing.add("spanLength", _length(table["end"] - table["begin"]))
    packing.add("spanTask", table["task"].astype(np.uint16))
    packing.add("spanNumber", (table["job"] & np.uint64(0xFFFFFFFF)).astype(np.uint32))
    rows += _task_rows(trace, jobs)
    programs = _programs(trace, packing, begin)
    messages = gathered.messages
    packing.add("messageFrom", _since(messages["from"], begin))
    packing.add("messageTo", _since(messages["to"], begin))
    for name, column in (("Maker", "maker"), ("User", "user"), ("Topic", "topic")):
        packing.add(f"message{name}", messages[column].astype(np.uint16))
    tasks = [trace.names.task(one) for one in range(max(trace.names.tasks, default=-1) + 1)]
    topics = {number: trace.names.topic(number) for number in gathered.published}
    about = {
        "duration": end - begin,
        "rows": [*rows, *programs["rows"]],
        "tasks": tasks,
        "topics": topics,
        "programs": programs["names"],
        "cores": {str(one): trace.names.core(one) for one in np.unique(jobs["core"]).tolist()},
        "arrays": packing.arrays,
    }
    return about, packing.text()


_SPANS = ("begin", "end", "task", "job")


def _by_core(table: Table) -> Table:
    return chosen(table, np.lexsort((table["begin"], table["core"])))


def _ranges(column: NDArray[Any]) -> list[tuple[int, int, int]]:
    """Value, first and end of each stretch of equal values."""
    cuts = [0, *(np.flatnonzero(np.diff(column)) + 1).tolist(), len(column)]
    return [(int(column[first]), first, end) for first, end in pairwise(cuts) if first < end]


def _core_rows(trace: Trace, gathered: Gathered) -> list[Row]:
    group = "threads" if trace.source == RECORDING else "cores"
    return [
        {"group": group, "name": trace.names.core(core), "kind": "span", "first": a, "end": b}
        for core, a, b in _ranges(gathered.slices["core"].astype(np.int64))
    ]


def _cpu_rows(spans: Table) -> list[Row]:
    return [
        {"group": "cores", "name": f"core {core}", "kind": "span", "first": a, "end": b}
        for core, a, b in _ranges(spans["core"])
    ]


def _shifted(rows: list[Row], by: int) -> list[Row]:
    return [{**row, "first": row["first"] + by, "end": row["end"] + by} for row in rows]


def _task_rows(trace: Trace, jobs: Table) -> list[Row]:
    found = [
        {
            "group": "callbacks",
            "name": trace.names.task(task),
            "kind": "job",
            "task": task,
            "first": a,
            "end": b,
        }
        for task, a, b in _ranges(jobs["task"].astype(np.int64))
        if task != NONE
    ]
    return sorted(found, key=lambda row: str(row["name"]))


def _programs(trace: Trace, packing: _Packing, begin: int) -> dict[str, list[Any]]:
    """The stretches in which other programs had the cores, where the trace has them."""
    held = Programs(trace.names).by_core
    names: dict[str, int] = {}
    rows: list[Row] = []
    starts: list[int] = []
    lengths: list[int] = []
    numbers: list[int] = []
    for core, stretches in sorted(held.items()):
        first = len(starts)
        for one in stretches:
            starts.append(one.begin - begin)
            lengths.append(one.end - one.begin)
            numbers.append(names.setdefault(_who(one), len(names)) % NONE)
        row = {"group": "other programs", "name": trace.names.core(core), "kind": "program"}
        rows.append(row | {"first": first, "end": len(starts)})
    packing.add("programBegin", np.array(starts, np.float64))
    packing.add("programLength", np.array(lengths, np.float32))
    packing.add("programName", np.array(numbers, np.uint16))
    return {"rows": rows, "names": list(names)}


def _who(one: Held) -> str:
    return one.name if one.process == INTERRUPT else f"{one.name} ({one.process})"


def _since(times: NDArray[Any], begin: int) -> NDArray[np.float64]:
    return (times - begin).astype(np.float64)


def _length(lengths: NDArray[Any]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = np.maximum(lengths, 0).astype(np.float32)
    return found


def _where(known: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = np.where(known, values, np.nan).astype(np.float32)
    return found
