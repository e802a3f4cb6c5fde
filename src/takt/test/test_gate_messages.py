# SPDX-License-Identifier: Apache-2.0
"""``takt gate``: messages that were published and never used, by reader and by topic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from robot_traces import MS, PERIOD, SCAN, STEP, job, of, recorded, steps, stolen

from takt.errors import TaktError
from takt.judge.gate import judge as gate
from takt.judge.limits import Limits
from takt.judge.model import Judgement, Quantity
from takt.schedule.trace.file import Type
from takt.statistics.judgement import Outcome

READER = "plan.step ← scan"


def reads(share: str = "0%") -> Limits:
    return Limits.model_validate({"reads": {"plan.step": {"scan": {"unused": share}}}})


def topics(share: str = "0%") -> Limits:
    return Limits.model_validate({"topics": {"scan": {"unused": share}}})


def stale(count: int, since: int) -> list[list[bytes]]:
    """The plan, which uses the same message from a job on: the later ones never reach it."""
    plan = []
    for number in range(count):
        records = job(STEP, number, 3 * MS, read=None)
        time = number * PERIOD + 5 * MS
        used = min(number, since)
        plan.append([*records, make.event(time, Type.use, STEP, number, used, topic=SCAN)])
    return plan


def judged(path: Path, limits: Limits, subject: str = READER) -> Judgement:
    return of(gate(path, limits), subject, Quantity.unused)


def test_messages_that_are_all_used_meet(tmp_path: Path) -> None:
    path = recorded(tmp_path, steps())
    found = judged(path, reads())
    # The reader's last but one job is the 49th: what came later may still be on its way.
    assert (found.outcome, found.exceeded, found.count) == (Outcome.meets, 0, 49)
    assert judged(path, topics(), "scan").outcome is Outcome.meets


def test_a_reader_that_stays_on_an_old_message_fails(tmp_path: Path) -> None:
    path = recorded(tmp_path, stale(50, since=9))
    found = judged(path, reads())
    assert (found.outcome, found.exceeded, found.count) == (Outcome.fails, 39, 49)
    assert found.reason == "39 of 49 messages unused"
    assert judged(path, topics(), "scan").outcome is Outcome.fails


def test_the_allowed_share_decides_on_both_sides(tmp_path: Path) -> None:
    path = recorded(tmp_path, stale(50, since=9))
    assert judged(path, reads("95%")).outcome is Outcome.meets
    few = judged(path, reads("80%"))
    assert (few.outcome, few.needed is not None) == (Outcome.undecided, True)
    assert judged(path, reads("50%")).outcome is Outcome.fails


def test_messages_that_nobody_ever_used_fail(tmp_path: Path) -> None:
    path = recorded(tmp_path, [job(STEP, number, 3 * MS, read=False) for number in range(50)])
    found = judged(path, reads())
    assert (found.outcome, found.exceeded) == (Outcome.fails, 49)
    nobody = recorded(tmp_path, [job(STEP, number, 3 * MS, read=None) for number in range(50)])
    assert judged(nobody, topics(), "scan").exceeded == 50  # it has no reader: all count


def test_stolen_time_may_have_hidden_messages(tmp_path: Path) -> None:
    few = stale(50, since=46)
    assert judged(recorded(tmp_path, few), reads()).outcome is Outcome.fails
    hidden = recorded(tmp_path, few, more=[stolen(47, 60 * MS)])
    assert judged(hidden, reads()).outcome is Outcome.undecided


def test_lost_events_leave_it_undecided(tmp_path: Path) -> None:
    path = recorded(tmp_path, stale(50, since=9), lost=3)
    assert judged(path, reads()).outcome is Outcome.undecided


@pytest.mark.parametrize(
    ("limits", "wrong", "there"),
    [
        ({"topics": {"scann": {}}}, "topic 'scann'", "its topics: scan"),
        ({"reads": {"plan.step": {"scann": {"unused": "1%"}}}}, "topic 'scann'", "scan"),
        (
            {"reads": {"sensor.read": {"scan": {"unused": "1%"}}}},
            "topic 'scan' of sensor.read",
            "it reads: nothing",
        ),
        ({"reads": {"plan.stop": {"scan": {"unused": "1%"}}}}, "'plan.stop'", "plan.step"),
    ],
)
def test_a_wrong_name_is_refused_with_the_known_ones(
    tmp_path: Path, limits: dict[str, Any], wrong: str, there: str
) -> None:
    path = recorded(tmp_path, steps())
    with pytest.raises(TaktError, match="the limits name") as error:
        gate(path, Limits.model_validate(limits))
    assert wrong in str(error.value)
    assert there in str(error.value)
