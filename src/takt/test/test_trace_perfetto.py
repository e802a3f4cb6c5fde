# SPDX-License-Identifier: Apache-2.0
"""What ``takt trace --perfetto`` writes, asked in SQL as Perfetto's trace processor is."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfetto_tables import query
from trace_files import event, two_tasks, write

from takt.cli.main import main
from takt.schedule.trace.file import NO_DEADLINE, Type

LOW, HIGH = "planner.low_with_a_name_that_needs_two_records", "guard.brake"
ON_TRACK = "FROM slice JOIN track ON slice.track_id = track.id"


def written(folder: Path, records: list[bytes], name: str = "out.pftrace") -> Path:
    """The Perfetto trace of a trace of these records."""
    with pytest.raises(SystemExit) as ended:
        main(["trace", str(write(folder / "t", records)), "--perfetto", str(folder / name)])
    assert not ended.value.code
    return folder / name


@pytest.mark.parametrize("name", ["out.pftrace", "out.pftrace.gz"])
def test_each_core_and_each_task_has_a_track(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, two_tasks(), name)
    tracks = """SELECT above.name, track.name FROM track JOIN track above
        ON track.parent_id = above.id ORDER BY above.rank, track.rank"""
    assert query(path, tracks) == [("cores", "core 0"), ("tasks", LOW), ("tasks", HIGH)]
    shown = f"SELECT slice.name, ts, dur {ON_TRACK} WHERE track.name = '%s' ORDER BY ts, dur DESC"
    assert query(path, shown % "core 0") == [
        (LOW, 10_000, 10_000), (HIGH, 20_000, 25_000), (LOW, 45_000, 25_000),
        ("scenario docking", 90_000, 0), (HIGH, 100_500, 30_500),
    ]  # fmt: skip
    assert query(path, shown % LOW) == [
        ("release", 0, 0), (LOW, 10_000, 60_000), ("preempted", 20_000, 25_000),
        ("skipped", 110_000, 0),
    ]  # fmt: skip
    high = query(path, shown % HIGH)
    assert ("deliver /scan", 21_000, 0) in high
    assert ("deadline miss", 131_000, 0) in high
    assert (f"{HIGH} (missed its deadline)", 100_500, 30_500) in high


def test_the_numbers_of_a_job_can_be_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, two_tasks())
    numbers = f"""SELECT args.key, args.value {ON_TRACK} JOIN args ON args.slice_id = slice.id
        WHERE track.name = '{LOW}' AND slice.name = track.name"""
    assert dict(query(path, numbers)) == {
        "job": "0", "priority": "10", "running_ns": "35000", "preemptions": "1",
        "response_ns": "70000", "deadline_ns": "200000",
    }  # fmt: skip


def test_times_of_a_long_uptime_are_exact_to_the_nanosecond(tmp_path: Path) -> None:
    begin = 400 * 24 * 3600 * 10**9 + 123_456_789
    records = [event(begin, Type.start, task=0), event(begin + 1, Type.end, task=0, value=-1)]
    path = written(tmp_path, records)
    assert query(path, "SELECT DISTINCT ts, dur FROM slice WHERE dur > 0") == [(begin, 1)]


def test_arrows_lead_from_the_making_of_a_message_to_each_use_of_it(tmp_path: Path) -> None:
    records = [
        *two_tasks(),
        event(1_000, Type.publish, topic=3, value=6),  # from outside: no job to come from
        event(15_000, Type.publish, task=0, topic=3, value=7),
        event(22_000, Type.use, task=1, topic=3, value=7),
        event(101_000, Type.use, task=1, job=1, topic=3, value=7),
        event(102_000, Type.use, task=1, job=1, topic=3, value=6),
        event(103_000, Type.use, task=1, job=1, topic=3, value=-1),
    ]
    arrows = """SELECT a.name, a.ts, b.name, b.ts FROM flow
        JOIN slice a ON a.id = slice_out JOIN slice b ON b.id = slice_in ORDER BY b.ts"""
    assert query(written(tmp_path, records), arrows) == [
        ("publish /scan", 15_000, "use /scan", 22_000),
        ("publish /scan", 15_000, "use /scan", 101_000),
    ]


def test_what_is_used_at_the_time_of_its_publication_is_led_to_as_all_others(
    tmp_path: Path,
) -> None:
    records = [
        record
        for at in (10, 20)
        for record in (
            event(at, Type.publish, task=0, topic=3, value=at),
            event(at, Type.use, task=1, topic=3, value=at),
            event(at + 1, Type.use, task=1, topic=3, value=at),
        )
    ]
    arrows = """SELECT a.name, a.ts, b.name, b.ts FROM flow
        JOIN slice a ON a.id = slice_out JOIN slice b ON b.id = slice_in ORDER BY a.ts, b.ts"""
    assert query(written(tmp_path, records), arrows) == [
        ("publish topic 3", at, "use topic 3", then)
        for at, then in [(10, 10), (10, 11), (20, 20), (20, 21)]
    ]


def test_numbers_of_all_lengths_stand_side_by_side(tmp_path: Path) -> None:
    ages = [0, 1, 127, 128, 16_383, 16_384, 2**62, 2**63 - 1, -1, -(2**62), 5]
    records = [
        event(10**at, Type.deliver, task=0, topic=3, value=age) for at, age in enumerate(ages)
    ]
    found = "SELECT ts, value FROM slice JOIN args ON slice_id = slice.id WHERE key = 'age_ns'"
    rows = query(written(tmp_path, records), f"{found} ORDER BY ts")
    assert rows == [(10**at, str(age)) for at, age in enumerate(ages)]


def test_jobs_that_follow_each_other_at_once_stay_apart(tmp_path: Path) -> None:
    """An end and a begin at one time: the end must come first, or the slices would nest."""
    records = [
        record
        for job, task in enumerate((0, 1, 0, 0))
        for record in (
            event(job * 10, Type.release, task, job, NO_DEADLINE),
            event(job * 10, Type.start, task, job, 5),
            event(job * 10 + 10, Type.end, task, job, -1),
        )
    ]
    spans = f"SELECT track.name, ts, dur {ON_TRACK} WHERE dur > 0 ORDER BY track.name, ts"
    assert query(written(tmp_path, records), spans) == [
        *(("core 0", at, 10) for at in (0, 10, 20, 30)),
        *(("task 0", at, 10) for at in (0, 20, 30)),
        ("task 1", 10, 10),
    ]


def test_what_no_clock_shows_in_a_damaged_trace_is_written_all_the_same(tmp_path: Path) -> None:
    far = 2**63 - 1
    records = [
        event(-5, Type.release, task=0, job=2**64 - 1, value=-far),
        event(-4, Type.start, task=0, job=2**64 - 1, value=-far),
        event(far, Type.end, task=0, job=2**64 - 1, value=far),
    ]
    path = written(tmp_path, records)
    assert query(path, "SELECT DISTINCT ts, dur FROM slice WHERE dur > 0") == [(0, far)]


def test_an_empty_trace_has_no_slices(tmp_path: Path) -> None:
    assert query(written(tmp_path, []), "SELECT name FROM slice") == []
