# SPDX-License-Identifier: Apache-2.0
"""What ``takt trace`` writes, read by the programs that it is written for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from trace_files import event, header, name, periodic, two_tasks, write

from takt.cli.main import main
from takt.schedule.trace.file import Type

LOW, HIGH = "planner.low_with_a_name_that_needs_two_records", "guard.brake"
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capfd: pytest.CaptureFixture[str]) -> Call:
    """Calls ``takt trace``; returns exit code, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        try:
            main(["trace", *map(str, arguments)])
        except SystemExit as ended:
            out, err = capfd.readouterr()
            return int(ended.code or 0), out, err
        raise AssertionError

    return call


def rows(path: Path, select: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as database:
        return database.execute(f"FROM read_parquet(?) {select}", [str(path)]).fetchall()


def test_descriptions_of_tasks_do_not_fill_the_screen(call: Call, tmp_path: Path) -> None:
    described = name("attribute", 1, 'task={"name":"guard.brake","period":10}')
    code, out, _ = call(write(tmp_path / "t", [*two_tasks(), described]))
    assert code == 0
    assert "policy fp" in out
    assert "period" not in out


def test_the_summary_reports_each_task(call: Call, tmp_path: Path) -> None:
    code, out, _ = call(write(tmp_path / "t", two_tasks()), "--json")
    document = json.loads(out)
    assert (code, document["schema_version"], document["lost"]) == (0, 1, 0)
    assert (document["source"], document["switches"]) == ("executor", 1)
    low, high = document["tasks"]
    assert (low["task"], high["task"]) == (LOW, HIGH)
    assert (low["releases"], low["skipped"], low["jobs"], low["misses"]) == (4, 3, 1, 0)
    assert (low["preemptions"], low["preempted_us"], low["response_max_us"]) == (1, 25.0, 70.0)
    assert (high["releases"], high["jobs"], high["misses"]) == (2, 2, 1)
    assert (high["response_p50_us"], high["response_max_us"]) == (28.0, 31.0)
    assert (high["unfinished"], high["incomplete"]) == (0, 0)


def test_percentiles_are_exact_over_many_blocks(call: Call, tmp_path: Path) -> None:
    _, out, _ = call(write(tmp_path / "t", periodic(50_001)), "--json")
    (task,) = json.loads(out)["tasks"]
    assert (task["releases"], task["jobs"]) == (50_001, 50_001)
    assert task["response_p50_us"] == pytest.approx(27.0)
    assert task["response_p99_us"] == pytest.approx(51.5)
    assert task["response_max_us"] == pytest.approx(52.0)


def test_what_makes_a_trace_doubtful_is_said(call: Call, tmp_path: Path) -> None:
    records = [
        *two_tasks()[:-3],
        name("attribute", 0, "not_granted=SCHED_FIFO: not permitted"),
        event(140_000, Type.overflow, value=4),
        event(150_000, 99),
    ]
    code, out, err = call(write(tmp_path / "t", records, header(flags=0)))
    assert code == 0
    assert "finished" in out
    assert "70.0" in out
    for words in (
        "4 events were lost", "is not whole", "1 records have an unknown type",
        "no evidence of real-time behaviour: SCHED_FIFO: not permitted",
    ):  # fmt: skip
        assert words in err


def test_parquet_has_a_row_an_event_and_a_row_a_job(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "tables"
    code, _, _ = call(write(tmp_path / "t", two_tasks()), "--parquet", out)
    assert code == 0
    events = rows(out / "events.parquet", "SELECT time_ns")
    assert len(events) == 13
    assert events == sorted(events)
    deliver = "SELECT task, topic, value, core, detail WHERE event = 'deliver'"
    assert rows(out / "events.parquet", deliver) == [(HIGH, "/scan", 4000, 0, 2)]
    switch = "SELECT task, topic, value WHERE event = 'scenario'"
    assert rows(out / "events.parquet", switch) == [(None, None, 1)]
    jobs = rows(
        out / "jobs.parquet",
        "SELECT task, job, release_ns, start_ns, end_ns, deadline_ns, preempted_ns, missed, "
        "cpu_time_ns ORDER BY start_ns",
    )
    assert jobs == [
        (LOW, 0, 0, 10_000, 70_000, 200_000, 25_000, False, None),
        (HIGH, 0, 20_000, 20_000, 45_000, 50_000, 0, False, 24_000),
        (HIGH, 1, 100_000, 100_500, 131_000, 130_000, 0, True, None),
    ]


def test_an_empty_trace_gives_empty_tables(call: Call, tmp_path: Path) -> None:
    trace = write(tmp_path / "t", [])
    out = tmp_path / "tables"
    code, _, _ = call(trace, "--parquet", out)
    assert code == 0
    for table in ("events", "jobs"):
        assert rows(out / f"{table}.parquet", "SELECT *") == []


def test_a_trace_is_never_overwritten(call: Call, tmp_path: Path) -> None:
    trace = write(tmp_path / "t", two_tasks())
    before = trace.read_bytes()
    code, _, err = call(trace, "--perfetto", trace)
    assert (code, "does not overwrite" in err) == (2, True)
    assert trace.read_bytes() == before


@pytest.mark.parametrize(
    ("option", "place", "fix"),
    [
        ("--perfetto", "no/p.pftrace", "fix: create it, or choose another path"),
        ("--perfetto", ".", "fix: give a file: this is a folder"),
        ("--parquet", "t", "fix: give a folder: this is a file"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_with_its_fix(
    call: Call, tmp_path: Path, option: str, place: str, fix: str
) -> None:
    trace = write(tmp_path / "t", two_tasks())
    code, _, err = call(trace, option, tmp_path / place)
    assert code == 2
    assert err.startswith(f"takt: {tmp_path / place}: cannot write the file: ")
    assert fix in err


def test_a_file_that_is_no_trace_is_exit_code_2(call: Call, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("name: quick\n")
    code, out, err = call(tmp_path / "t")
    assert (code, out) == (2, "")
    assert err.startswith(f"takt: {tmp_path / 't'}: this is no trace: ")
    assert err.splitlines()[1].startswith("  fix: give ")
