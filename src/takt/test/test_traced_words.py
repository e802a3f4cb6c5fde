# SPDX-License-Identifier: Apache-2.0
"""What metrics and explain say first: what never ended, ran or arrived is no deadline kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trace_files as make
from command_line import takt
from test_metrics import MS, PLAN, SCAN, SENSOR, application, job, names

from takt.schedule.metrics import measure
from takt.schedule.trace.file import Type
from takt.statistics.judgement import Outcome

CHAIN = {"chains": [{"name": "through", "callbacks": ["sensor.read", "plan.step"]}]}
LIMITED = {"chains": [CHAIN["chains"][0] | {"max_latency": 8 * MS}]}
DURATION = make.name("attribute", 0, f"duration_ns={100 * MS}")


def said(
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    command: str,
    *records: bytes | list[bytes],
    code: int = 0,
) -> str:
    """The line that sums it up."""
    flat = [each for one in records for each in (one if isinstance(one, list) else [one])]
    path = make.write(folder / "made.takttrace", flat)
    assert takt([command, str(path)]) == code
    lines = capfd.readouterr().out.splitlines()
    return lines[1 if command == "metrics" else 0]


def in_time_records(number: int) -> list[bytes]:
    begin = number * 10 * MS
    release = (begin, begin + 10 * MS)
    return [
        *job(
            SENSOR, number, (begin, begin + MS), (begin, Type.publish, number), deadline=release[1]
        ),
        *job(PLAN, number, (begin + MS, begin + 2 * MS), (begin + MS, Type.use, number)),
    ]


def hanging(deadline_ms: int) -> list[bytes]:
    return [
        make.event(20 * MS, Type.release, SENSOR, 9, deadline_ms * MS),
        make.event(20 * MS, Type.start, SENSOR, 9, 50),
        make.event(90 * MS, Type.release, PLAN, 99, 200 * MS),
    ]


@pytest.mark.parametrize("command", ["metrics", "explain"])
def test_a_job_that_never_ended_and_is_past_its_deadline_is_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    words = "1 never ended and is past its deadline"
    past = said(tmp_path, capfd, command, application(), names(), in_time_records(0), hanging(30))
    assert words in past
    before = said(tmp_path, capfd, command, application(), names(), in_time_records(0), hanging(95))
    assert words not in before


@pytest.mark.parametrize("command", ["metrics", "explain"])
def test_of_no_execution_no_deadline_was_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    code = 1 if command == "metrics" else 0
    empty = said(tmp_path, capfd, command, application(), names(), code=code)
    assert "no execution ended" in empty
    assert " 0 missed" not in empty
    assert "0 of 0" not in empty


def test_a_callback_that_starved_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    every = [each for number in range(10) for each in in_time_records(number)]
    fair = said(tmp_path, capfd, "metrics", application(), DURATION, names(), every)
    assert "less often" not in fair
    only = [one for number in range(10) for one in in_time_records(number)[:4]]
    starved = said(tmp_path, capfd, "metrics", application(), DURATION, names(), only, code=1)
    assert "less often than their period: plan.step (0 of 10)" in starved


def test_a_callback_that_the_trace_does_not_know_never_ran(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    records = [application(), *names()[::2], *in_time_records(0)[:4]]
    some = said(tmp_path, capfd, "metrics", records, code=1)
    assert "plan.step never ran" in some
    every = said(tmp_path, capfd, "metrics", application(), names(), in_time_records(0))
    assert "never ran" not in every


def test_a_chain_through_which_nothing_arrived_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arrived = said(tmp_path, capfd, "metrics", application(**CHAIN), names(), in_time_records(0))
    assert "no data arrived" not in arrived
    unread = [one for number in range(3) for one in in_time_records(number)[:4]]
    never = [*unread, *job(PLAN, 0, (50 * MS, 51 * MS), (50 * MS, Type.use, -1))]
    lost = said(tmp_path, capfd, "metrics", application(**CHAIN), names(), never, code=1)
    assert "no data arrived through through" in lost
    assert "plan.step never received scan" in lost


def test_limits_that_were_broken_are_reported_first(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = said(tmp_path, capfd, "metrics", application(**LIMITED), names(), in_time_records(0))
    assert "limit" not in kept
    late = [
        *job(SENSOR, 0, (0, MS), (0, Type.publish, 0)),
        make.event(9 * MS, Type.age_violation, PLAN, 0, 50 * MS, topic=SCAN),
        *job(PLAN, 0, (9 * MS, 10 * MS), (9 * MS, Type.use, 0)),
    ]
    broken = said(tmp_path, capfd, "metrics", application(**LIMITED), names(), late)
    assert "1 latency of a chain above its limit" in broken
    assert "1 start on data above its age limit" in broken


def absent(folder: Path, *records: bytes | list[bytes]) -> dict[str, tuple[int | None, Outcome]]:
    """What is missing, by subject: how many were expected, and the outcome."""
    flat = [each for one in records for each in (one if isinstance(one, list) else [one])]
    found = measure(make.write(folder / "made.takttrace", flat))
    assert all(one.arrived == 0 for one in found.absences)
    return {one.subject: (one.expected, one.outcome) for one in found.absences}


UNREAD = [one for number in range(3) for one in in_time_records(number)[:4]]
WITHOUT = [*UNREAD, *job(PLAN, 0, (50 * MS, 51 * MS), (50 * MS, Type.use, -1))]
READER = "plan.step ← scan"


def test_absence_is_a_row_and_the_exit_code(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fed = [application(**LIMITED), *names(), *in_time_records(0)]
    assert absent(tmp_path, fed) == {}
    never = [application(**LIMITED), *names(), *WITHOUT]
    assert absent(tmp_path, never) == {
        "through": (3, Outcome.fails),
        READER: (1, Outcome.fails),
    }
    path = make.write(tmp_path / "never.takttrace", never)
    assert takt(["metrics", str(path)]) == 1
    rows = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert ["through", "0", "of", "3", "fails", *["no", "data", "passed", "the", "chain"]] in rows
    kept = make.write(tmp_path / "kept.takttrace", fed)
    assert takt(["metrics", str(kept), str(path), "--json"]) == 1
    first, second = json.loads(capfd.readouterr().out)["traces"]
    assert first["absences"] == []
    assert [one["outcome"] for one in second["absences"]] == ["fails", "fails"]


def test_without_a_limit_absence_decides_nothing(tmp_path: Path) -> None:
    flat = [application(**CHAIN), *names(), *WITHOUT]
    assert absent(tmp_path, flat)["through"] == (3, Outcome.undecided)


def test_absence_of_what_the_trace_lost_or_does_not_record_is_undecided(tmp_path: Path) -> None:
    unrecorded = [*UNREAD, *job(PLAN, 0, (50 * MS, 51 * MS))]
    found = absent(tmp_path, application(**LIMITED), names(), unrecorded)
    assert found == {"through": (3, Outcome.undecided), READER: (1, Outcome.undecided)}
    found = absent(tmp_path, application(**LIMITED), names(), UNREAD)  # the reader never ran
    assert found["through"] == (3, Outcome.fails)
    records = [application(**LIMITED), *names(), *WITHOUT]
    lossy = make.write(tmp_path / "lossy.takttrace", records, head=make.header(lost=3))
    assert {one.outcome for one in measure(lossy).absences} == {Outcome.undecided}


def test_data_whose_publication_is_not_recorded_is_not_absent(tmp_path: Path) -> None:
    used = job(PLAN, 0, (50 * MS, 51 * MS), (50 * MS, Type.use, 4))
    assert READER not in absent(tmp_path, application(), names(), in_time_records(0)[:4], used)


def test_a_callback_without_a_release_is_absent(tmp_path: Path) -> None:
    only = [one for number in range(10) for one in in_time_records(number)[:4]]
    found = absent(tmp_path, application(), DURATION, names(), only)
    assert found["plan.step"] == (10, Outcome.fails)
    found = absent(tmp_path, application(), names()[::2], in_time_records(0)[:4])
    assert found["plan.step"] == (None, Outcome.fails)
