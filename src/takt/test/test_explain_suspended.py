# SPDX-License-Identifier: Apache-2.0
"""Jobs that sleep as they declare, in traces made by hand: that time is known to their bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from explained_traces import HIGH, LOW, MS, begin, end, explained

from takt.schedule.explain import Explanation
from takt.schedule.explain.model import ShareKind
from takt.schedule.trace.file import Type

WORST, SUSPENSION, SLEEPS = 2 * MS, 5 * MS, 2  # the bound is their sum
FLAT = {
    "version": 1,
    "name": "waits",
    "policy": "fp",
    "callbacks": [
        {
            "name": "high",
            "node": "high",
            "period": 50 * MS,
            "priority": 80,
            "execution": {"worst": WORST},
            "suspension": SUSPENSION,
            "suspensions": SLEEPS,
        }
    ],
}


def one_job(
    path: Path,
    *,
    slept: int,
    computed: int = WORST,
    ready: int = 0,
    flat: dict[str, Any] = FLAT,
) -> Explanation:
    """Of a job that slept, computed, and was ready without running for so long."""
    ended = slept + computed + ready
    return explained(
        path,
        make.name("attribute", 0, "application=" + json.dumps(flat)),
        make.name("attribute", 0, "policy=fp"),
        make.name("attribute", 0, "waits_from_ns=10000"),
        begin(HIGH, 0, 0, deadline=WORST + SUSPENSION),
        make.event(ended, Type.wait, HIGH, 0, ready, detail=1 + SLEEPS),
        end(HIGH, ended, computed),
    )


def test_a_job_that_sleeps_as_declared_is_within_its_bound(tmp_path: Path) -> None:
    found = one_job(tmp_path, slept=SUSPENSION)
    assert found.bounds is not None
    assert (found.bounds.responses, found.bounds.above, found.misses) == (1, 0, 0)


@pytest.mark.parametrize(
    ("job", "cause", "rest"),
    [
        ({"slept": SUSPENSION + 3 * MS}, ShareKind.not_scheduled, 3.0),
        ({"slept": SUSPENSION, "ready": 3 * MS}, ShareKind.not_scheduled, 3.0),
        ({"slept": SUSPENSION, "computed": WORST + 3 * MS}, ShareKind.overran, 3.0),
        ({"slept": SUSPENSION - MS, "ready": 3 * MS}, ShareKind.not_scheduled, 3.0),
    ],
)
def test_what_is_above_the_bound_is_not_what_is_declared(
    tmp_path: Path, job: dict[str, int], cause: ShareKind, rest: float
) -> None:
    (late,) = one_job(tmp_path, **job).details
    assert late.above is not None
    assert late.above.cause is cause
    assert late.above.unknown_us == {cause: rest * 1000}
    shares = {one.kind: one.us / 1000 for one in late.shares}
    slept = min(job["slept"], SUSPENSION) / MS
    assert shares == {ShareKind.executed: 2.0, ShareKind.suspended: slept, cause: rest}
    (evidence,) = [one.evidence for one in late.shares if one.kind is ShareKind.suspended]
    assert evidence == "its thread slept 2 times, declared 5000 µs"


def test_a_wait_for_responses_is_named(tmp_path: Path) -> None:
    """The server had an answer after 3 ms, and the client slept for 4 ms more than its bound."""
    (client,) = FLAT["callbacks"]
    segments = [{"longest": MS}, {"call": "/plan"}, {"longest": MS}]
    called = {"suspension": 0, "suspensions": 1, "segments": segments}
    server = {"name": "low", "node": "low", "kind": "service", "trigger": "/plan", "priority": 90}
    flat = {**FLAT, "callbacks": [client | called, server | {"execution": {"worst": 3 * MS}}]}
    (late,) = one_job(tmp_path, slept=7 * MS, flat=flat).details
    assert late.above is not None
    assert late.above.above_us == 4_000
    shares = {one.kind: (one.us, one.evidence) for one in late.shares}
    assert shares[ShareKind.suspended] == (
        7_000,
        "its thread slept 2 times, it waits for responses of services",
    )


def test_who_waits_while_nobody_runs_is_noticed_late(tmp_path: Path) -> None:
    """High sleeps from 1 to 6 ms, as it declares; low could run from 1 ms on, and does from 6."""
    low = {
        "name": "low",
        "node": "low",
        "period": 50 * MS,
        "priority": 10,
        "execution": {"worst": WORST},
    }
    flat = {**FLAT, "callbacks": [*FLAT["callbacks"], low]}
    found = explained(
        tmp_path,
        make.name("attribute", 0, "application=" + json.dumps(flat)),
        make.name("attribute", 0, "policy=fp"),
        make.name("attribute", 0, "waits_from_ns=10000"),
        begin(HIGH, 0, 0),
        begin(LOW, MS, 6 * MS),
        end(LOW, 8 * MS, WORST),
        make.event(9 * MS, Type.wait, HIGH, 0, 0, detail=1 + SLEEPS),
        end(HIGH, 9 * MS, WORST),
    )
    (late,) = [one for one in found.details if one.callback == "low"]
    assert late.above is not None
    assert late.above.cause is ShareKind.late
    assert late.above.unknown_us[ShareKind.late] == 3000
