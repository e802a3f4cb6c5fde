# SPDX-License-Identifier: Apache-2.0
"""Responses under policies that leave a core idle on purpose, for a job to come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trace_files as make
from explained_traces import HIGH, LOW, MS, begin, end, explained
from idle_cores import application, callback, robot

from takt.schedule.analysis.bounds import Bounds
from takt.schedule.explain import Explanation, explain
from takt.schedule.explain.model import ShareKind
from takt.schedule.simulation.simulate import simulate

IDLED = {ShareKind.idled: 5.0, ShareKind.waited: 3.0, ShareKind.executed: 8.0}


def carried(document: dict[str, Any]) -> list[bytes]:
    text = "application=" + json.dumps(document)
    policy = document.get("policy", "robot")
    return [
        make.name("attribute", 0, text),
        make.name("attribute", 0, f"policy={policy}"),
        make.name("attribute", 0, "waits_from_ns=10000"),
    ]


def shares(found: Explanation) -> dict[ShareKind, float]:
    """Of the first late job, in ms."""
    return {share.kind: share.us / 1000 for share in found.details[0].shares}


@pytest.mark.parametrize("document", [application(), robot()], ids=["application", "robot"])
def test_the_core_that_a_policy_kept_for_another_job_is_no_late_notice(
    tmp_path: Path, document: dict[str, Any]
) -> None:
    trace = tmp_path / "idle.takttrace"
    simulate(document, where="made", duration=40 * MS, execution="worst", seed=1, trace=trace)
    found = explain(trace, limits={"low": 12 * MS})
    (late,) = found.details
    assert late.callback == "low"
    assert shares(found) == IDLED
    (idled,) = [share for share in late.shares if share.kind is ShareKind.idled]
    assert idled.by == "high"
    assert "the policy kept the core idle until the release of its job 0" in idled.evidence
    assert found.bounds is not None
    assert found.bounds.above == 0


@pytest.mark.parametrize("policy", ["cw-edf", "np-edf"])
def test_only_a_policy_that_idles_keeps_the_core_idle(tmp_path: Path, policy: str) -> None:
    """High is noticed 1 ms after its release, and so is low above its bound of 16 ms."""
    found = explained(
        tmp_path,
        *carried(application(policy)),
        begin(LOW, 0, 9 * MS, deadline=16 * MS),
        begin(HIGH, 5 * MS, 6 * MS, deadline=10 * MS),
        end(HIGH, 9 * MS, 3 * MS),
        end(LOW, 17 * MS, 8 * MS),
    )
    late = next(one for one in found.details if one.callback == "low")
    times = {share.kind: share.us / 1000 for share in late.shares}
    if policy == "np-edf":
        assert times[ShareKind.late] == 6
        return
    assert (times[ShareKind.idled], times[ShareKind.late]) == (5, 1)
    assert late.above is not None
    assert late.above.cause is ShareKind.late
    assert late.above.unknown_us == {ShareKind.late: 1000}


@pytest.mark.parametrize(("policy", "same"), [("p-rm", "np-fp"), ("cw-edf", "np-edf")])
def test_lost_time_delays_what_never_idles_as_it_does_without_idling(
    policy: str, same: str
) -> None:
    """Where the offsets are unknown, there is no graph."""
    callbacks = [callback("high", 10, 2, 10), callback("low", 40, 3, 40)]
    callbacks = [{**one, "offset": "unknown"} for one in callbacks]
    ranks = [{**one, "priority": 98 - place} for place, one in enumerate(callbacks)]
    idling = Bounds(application(policy, callbacks=callbacks))
    busy = Bounds(application(same, callbacks=ranks))
    assert idling.never_idle == {"high", "low"}
    for name in ("high", "low"):
        assert idling.with_lost(name, 0, 9 * MS) == busy.with_lost(name, 0, 9 * MS) is not None
