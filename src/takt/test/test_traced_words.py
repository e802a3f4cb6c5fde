# SPDX-License-Identifier: Apache-2.0
"""What metrics and explain say first: what never ended, ran or arrived is no deadline kept."""

from __future__ import annotations

from pathlib import Path

import pytest
import trace_files as make
from command_line import takt
from test_metrics import MS, PLAN, SCAN, SENSOR, application, job, names

from takt.schedule.trace.file import Type

CHAIN = {"chains": [{"name": "through", "callbacks": ["sensor.read", "plan.step"]}]}
LIMITED = {"chains": [CHAIN["chains"][0] | {"max_latency": 8 * MS}]}
DURATION = make.name("attribute", 0, f"duration_ns={100 * MS}")


def said(
    folder: Path, capfd: pytest.CaptureFixture[str], command: str, *records: bytes | list[bytes]
) -> str:
    """The line that sums it up."""
    flat = [each for one in records for each in (one if isinstance(one, list) else [one])]
    path = make.write(folder / "made.takttrace", flat)
    assert takt([command, str(path)]) == 0
    lines = capfd.readouterr().out.splitlines()
    return lines[1 if command == "metrics" else 0]


def told_in_time(number: int) -> list[bytes]:
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
def test_a_job_that_never_ended_and_is_past_its_deadline_is_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    words = "1 never ended and is past its deadline"
    past = said(tmp_path, capfd, command, application(), names(), told_in_time(0), hanging(30))
    assert words in past
    before = said(tmp_path, capfd, command, application(), names(), told_in_time(0), hanging(95))
    assert words not in before


@pytest.mark.parametrize("command", ["metrics", "explain"])
def test_of_no_execution_no_deadline_was_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    empty = said(tmp_path, capfd, command, application(), names())
    assert "no execution ended" in empty
    assert " 0 missed" not in empty
    assert "0 of 0" not in empty


def test_a_callback_that_starved_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    every = [each for number in range(10) for each in told_in_time(number)]
    fair = said(tmp_path, capfd, "metrics", application(), DURATION, names(), every)
    assert "less often" not in fair
    only = [one for number in range(10) for one in told_in_time(number)[:4]]
    starved = said(tmp_path, capfd, "metrics", application(), DURATION, names(), only)
    assert "less often than their period: plan.step (0 of 10)" in starved


def test_a_callback_that_the_trace_does_not_know_never_ran(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    some = said(tmp_path, capfd, "metrics", application(), names()[::2], told_in_time(0)[:4])
    assert "plan.step never ran" in some
    every = said(tmp_path, capfd, "metrics", application(), names(), told_in_time(0))
    assert "never ran" not in every


def test_a_chain_through_which_nothing_arrived_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arrived = said(tmp_path, capfd, "metrics", application(**CHAIN), names(), told_in_time(0))
    assert "no data arrived" not in arrived
    unread = [one for number in range(3) for one in told_in_time(number)[:4]]
    never = [*unread, *job(PLAN, 0, (50 * MS, 51 * MS), (50 * MS, Type.use, -1))]
    lost = said(tmp_path, capfd, "metrics", application(**CHAIN), names(), never)
    assert "no data arrived through through" in lost
    assert "plan.step never received scan" in lost


def test_limits_that_were_broken_are_told_first(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = said(tmp_path, capfd, "metrics", application(**LIMITED), names(), told_in_time(0))
    assert "limit" not in kept
    late = [
        *job(SENSOR, 0, (0, MS), (0, Type.publish, 0)),
        make.event(9 * MS, Type.age_violation, PLAN, 0, 50 * MS, topic=SCAN),
        *job(PLAN, 0, (9 * MS, 10 * MS), (9 * MS, Type.use, 0)),
    ]
    broken = said(tmp_path, capfd, "metrics", application(**LIMITED), names(), late)
    assert "1 latency of a chain above its limit" in broken
    assert "1 start on data above its age limit" in broken
