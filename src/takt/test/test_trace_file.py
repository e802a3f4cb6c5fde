# SPDX-License-Identifier: Apache-2.0
"""Reading trace files: order, names, what is lost, and files that end anywhere."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import pytest
import takt_core
from hypothesis import given
from hypothesis import strategies as some
from trace_files import event, header, name, two_tasks, write

from takt.errors import TaktError
from takt.schedule.execution.programs import append_attributes
from takt.schedule.trace import file as files
from takt.schedule.trace.file import Type


def rows(core: takt_core.Trace, *names: str) -> list[tuple[int, ...]]:
    """Columns of all events, as they come."""
    replay = takt_core.Replay(core)
    found: list[tuple[int, ...]] = []
    while (step := replay.step()) is not None:
        found += zip(*(step.events[name].tolist() for name in names), strict=True)
    return found


def times(trace: files.Trace) -> list[int]:
    return [time for (time,) in rows(trace.core, "time")]


def test_names_are_put_together_and_attributes_kept_in_order(tmp_path: Path) -> None:
    records = [*two_tasks(), name("attribute", 0, "not_granted=lock_memory: " + "why " * 20)]
    trace = files.read(write(tmp_path / "t", records))
    assert trace.names.task(0) == "planner.low_with_a_name_that_needs_two_records"
    assert trace.names.topic(3) == "/scan"
    assert trace.names.scenario(1) == "docking"
    assert trace.names.values("policy.default") == ["fp"]
    assert trace.names.not_granted() == ["lock_memory: " + "why " * 20]
    assert trace.names.task(7) == "task 7"


def test_a_later_name_replaces_the_former(tmp_path: Path) -> None:
    records = [name("task", 0, "a" * 60), name("task", 0, "b")]
    assert files.read(write(tmp_path / "t", records)).names.task(0) == "b"


@given(
    moments=some.lists(some.integers(-5, 20), max_size=60),
    block=some.integers(1, 9),
    names_at=some.sets(some.integers(0, 60)),
)
def test_events_come_by_time_and_those_of_one_time_in_the_order_of_the_file(
    moments: list[int], block: int, names_at: set[int]
) -> None:
    records = []
    for number, moment in enumerate(moments):
        if number in names_at:
            records.append(name("task", 1, f"number {number}"))
        records.append(event(moment, Type.start, task=1, job=number))
    with tempfile.TemporaryDirectory() as folder:
        trace = takt_core.Trace(str(write(Path(folder) / "t", records)), block)
        found = rows(trace, "time", "job")
    expected = sorted(enumerate(moments), key=lambda one: one[1])  # stable
    assert found == [(moment, number) for number, moment in expected]
    assert trace.events == len(moments)


def test_a_file_that_is_cut_anywhere_is_read_as_far_as_it_is_whole(tmp_path: Path) -> None:
    whole = header(flags=0) + b"".join(two_tasks())
    path = tmp_path / "t"
    for size in range(64, len(whole) + 1):
        path.write_bytes(whole[:size])
        trace = files.read(path)
        events = list(struct.iter_unpack("<q22xBx", whole[64 : size - size % 32]))
        assert times(trace) == sorted(time for time, kind in events if kind > 1)
        assert not trace.closed_in_order


def test_a_closed_trace_that_lacks_its_end_is_not_whole(tmp_path: Path) -> None:
    path, records = tmp_path / "t", b"".join(two_tasks())
    path.write_bytes(header(records=len(records) // 32) + records)
    assert files.read(path).closed_in_order
    append_attributes(path, ["more=" + 40 * "x"])  # what takt execute adds counts, too
    assert files.read(path).closed_in_order
    path.write_bytes(path.read_bytes()[:-1])
    assert not files.read(path).closed_in_order


@pytest.mark.parametrize(("in_header", "overflows"), [(12, [5, 7]), (0, [5, 7]), (12, [])])
def test_what_is_lost_is_reported_also_when_the_header_was_not_updated(
    tmp_path: Path, in_header: int, overflows: list[int]
) -> None:
    records = [event(9, Type.overflow, value=count) for count in overflows]
    trace = files.read(write(tmp_path / "t", records, header(lost=in_header)))
    assert trace.lost == 12


def test_records_of_unknown_types_are_left_out_and_counted(tmp_path: Path) -> None:
    records = [event(1, 99), event(2, Type.start), bytes(32), event(3, 200)]
    trace = files.read(write(tmp_path / "t", records))
    assert (times(trace), trace.unknown) == ([2], 3)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "no trace"),
        (b"TAKT", "no trace"),
        (b"TAKTSMP1" + bytes(100), "no trace"),
        (header(magic=b"TAKTTRC2"), "version 2"),
        (header()[:40], "ends within its header: 40 of 64 bytes"),
        (b"TAKTTRC1" + bytes(56), "damaged"),
    ],
)
def test_what_is_no_trace_is_refused_with_the_reason(
    tmp_path: Path, content: bytes, expected: str
) -> None:
    path = tmp_path / "t"
    path.write_bytes(content)
    with pytest.raises(TaktError, match=expected) as caught:
        files.read(path)
    assert str(path) in str(caught.value)
    assert "fix: " in str(caught.value)


def test_a_folder_and_a_missing_file_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(TaktError, match="folder"):
        files.read(tmp_path)
    with pytest.raises(TaktError, match="no such trace"):
        files.read(tmp_path / "nothing")
